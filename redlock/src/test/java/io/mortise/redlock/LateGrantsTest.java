package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A grant that arrives after a round was won is kept or released, and never forgotten. */
class LateGrantsTest {
  private final LateGrants late = new LateGrants(3);
  private final FakeNodeLease early = new FakeNodeLease("early");
  private final FakeNodeLease later = new FakeNodeLease("later");

  @Test
  void aGrantIsKeptUntilTheHoldIsDecided() {
    late.accept(2, Optional.of(early));

    assertTrue(early.isValid());
    assertEquals(1, late.tokenIfRemembered(0));
    assertEquals(0, late.tokenIfRemembered(1), "it remembers no such token");
  }

  @Test
  void withoutAHoldAllGrantsAreReleased() {
    late.accept(2, Optional.of(early));

    late.reject();
    late.accept(1, Optional.of(later));

    assertEquals(State.RELEASED, early.state());
    assertEquals(State.RELEASED, later.state());
    assertEquals(0, late.tokenIfRemembered(0));
  }

  @Test
  void aRefusalIsNoGrant() {
    late.accept(2, Optional.empty());

    assertEquals(0, late.tokenIfRemembered(0));
  }

  @Test
  void anErrorInOneReleaseDoesNotKeepTheOtherGrantsFromTheirs() {
    late.accept(0, Optional.of(early));
    late.accept(2, Optional.of(later));
    early.errorAtRelease = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, late::reject);

    assertEquals(State.RELEASED, later.state());
  }
}
