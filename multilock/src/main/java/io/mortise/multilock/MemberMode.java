package io.mortise.multilock;

import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How members are taken and given back: by a thread that owns each, or as handles. */
interface MemberMode {

  /** Whether the members belong to a thread, which alone can give them back. */
  boolean isThreads();

  /** Whether it is held already, so that taking it again sends nothing. */
  boolean isOwned(LeaseSource member);

  /** The hold, or null when somebody else has it. */
  @Nullable OwnedLease take(LeaseSource member, LeaseTerms terms) throws InterruptedException;

  /** All or none, in one round trip. */
  GroupAttemptResult takeAll(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException;

  /** One level of re-entry more, of each; of a thread's. */
  void enter(List<LeaseSource> members, LeaseTerms terms);

  /** One level less, and not the last. */
  void leave(List<LeaseSource> members);

  /** Releases them; what went wrong. */
  List<RuntimeException> release(List<LeaseSource> from, List<OwnedLease> held);
}
