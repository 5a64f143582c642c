package io.mortise.it.topology;

import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import org.junit.jupiter.api.Nested;

/** All contracts, for every family: with {@link WaitingEverywhere}, what is not about waiting. */
abstract class EveryContract extends WaitingEverywhere {

  @Nested
  class PlainAsALock extends LockContract implements Plain {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class FairAsALock extends LockContract implements Fair {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class FairLeases extends LeaseContract implements Fair {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class WriteAsALock extends LockContract implements Write {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class WriteLeases extends LeaseContract implements Write {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class SeveralAsALock extends LockContract implements Several {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }

  @Nested
  class SeveralLeases extends LeaseContract implements Several {
    @Override
    public Clients clients() {
      return EveryContract.this.clients();
    }
  }
}
