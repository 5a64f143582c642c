package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.LeaseTerms;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StepTimeoutTest {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long COMMAND_TIMEOUT = 3_000 * MILLI;
  private static final LeaseTerms NO_WAIT = new LeaseTerms(0, 1_000, true, true);
  private static final LeaseTerms WAIT = new LeaseTerms(500 * MILLI, 1_000, true, true);

  @Test
  void withoutAWaitTheTimeoutIsThatOfCommands() {
    assertEquals(COMMAND_TIMEOUT, StepTimeout.ofSingle(NO_WAIT, -MILLI, COMMAND_TIMEOUT));
    assertEquals(COMMAND_TIMEOUT, StepTimeout.ofNext(NO_WAIT, -MILLI, COMMAND_TIMEOUT));
  }

  @Test
  void aCommandThatIsSentOnceMayTakeTheRestOfTheWaitAndAtLeastARoundTrip() {
    assertEquals(400 * MILLI, StepTimeout.ofSingle(WAIT, 400 * MILLI, COMMAND_TIMEOUT));
    assertEquals(200 * MILLI, StepTimeout.ofSingle(WAIT, 199 * MILLI, COMMAND_TIMEOUT));
    assertEquals(200 * MILLI, StepTimeout.ofSingle(WAIT, -MILLI, COMMAND_TIMEOUT));
  }

  @Test
  void theCommandsAfterTheEndOfTheWaitShareARoundTrip() {
    assertEquals(600 * MILLI, StepTimeout.ofNext(WAIT, 400 * MILLI, COMMAND_TIMEOUT));
    assertEquals(50 * MILLI, StepTimeout.ofNext(WAIT, -150 * MILLI, COMMAND_TIMEOUT));
    assertEquals(10 * MILLI, StepTimeout.ofNext(WAIT, -300 * MILLI, COMMAND_TIMEOUT));
  }
}
