package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A verification names the rest of the lease. One that reaches Redis late has the hold last for
 * that rest from then on, so a hold that runs out after it is released.
 */
@Timeout(60)
class LateVerificationTest {
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final Duration DELAY = Duration.ofMinutes(1);
  private static final LeaseTerms GIVEN = new LeaseTerms(0, LEASE.toMillis(), false, false);
  private static final long CONFIRMED = 1;

  /** A release would be repeated. */
  private final RespServer server = new RespServer(command -> "-ERR on purpose\r\n");

  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private long aheadNanos;
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          return Ticker.systemTicker().read() + aheadNanos;
        }
      };

  private final LeaseContext context = TestContext.unsent(client.context().lease(), ticker);
  private final HoldParts hold = new HoldParts(context, GIVEN);

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void advance(Duration time) {
    aheadNanos += time.toNanos();
  }

  private void verify() {
    advance(DELAY);
    hold.renewal.onDue(ticker.read());
  }

  private void runOut() {
    advance(LEASE);
    hold.renewal.onDue(ticker.read());
    assertEquals(Phase.LOST, hold.state.now().phase());
  }

  private void fail(boolean mayHaveExecuted) {
    hold.renewal.onFailure(
        new CommandException(
            CommandException.Kind.UNREACHABLE, mayHaveExecuted, "on purpose", null));
  }

  @Test
  void aHoldWhoseVerificationsWereAnsweredSendsNothingWhenItRunsOut() {
    verify();
    hold.renewal.onReply(CONFIRMED, ticker.read());

    runOut();

    assertEquals(0, context.releases().size());
  }

  @Test
  void aHoldThatWasNotVerifiedSendsNothingWhenItRunsOut() {
    runOut();

    assertEquals(0, context.releases().size());
  }

  @Test
  void aHoldIsReleasedAfterAVerificationWithoutAnAnswer() {
    verify();
    fail(true);

    runOut();

    assertEquals(1, context.releases().size());
  }

  @Test
  void aVerificationThatWasNotSentLengthensNothing() {
    verify();
    fail(false);

    runOut();

    assertEquals(0, context.releases().size());
  }

  @Test
  void aHoldIsReleasedAfterAVerificationThatWasAnsweredLate() {
    verify();
    advance(DELAY);
    hold.renewal.onReply(CONFIRMED, ticker.read());

    runOut();

    assertEquals(1, context.releases().size());
  }

  @Test
  void aHoldIsReleasedThatRunsOutDuringAVerification() {
    verify();

    runOut();

    assertEquals(1, context.releases().size());
  }

  /** The owner asks, and the answer does not come. */
  @Test
  void aHoldIsReleasedAfterAVerificationByItsOwner() {
    new LeaseExtension(
            context.commands(), context.holds(), ticker, hold.id, hold.timing, hold.renewal)
        .verifyQuietly();

    runOut();

    assertEquals(1, context.releases().size());
  }
}
