package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A verification that is requested while another request begins or ends gets an answer of its own,
 * and until then the hold is not settled. The clock runs the other thread's part: the renewal reads
 * it in between.
 */
@Timeout(60)
class VerificationRequestTest {
  private static final LeaseTerms RENEWED = new LeaseTerms(0, 30_000, true, false);
  private static final LeaseTerms FIXED = new LeaseTerms(0, 30_000, false, false);
  private static final long CONFIRMED = 1;
  private static final long MISSING = 0;

  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");
  private final List<Reason> losses = new ArrayList<>();
  private Runnable otherThread = () -> {};
  private long aheadNanos;

  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          Runnable once = otherThread;
          otherThread = () -> {};
          once.run();
          return Ticker.systemTicker().read() + aheadNanos;
        }
      };

  private final LeaseContext context = TestContext.unsent(client.context().lease(), ticker);

  private final HoldIdentity id = new HoldIdentity(new FakeProtocol("orders"), "holder", null);
  private final LeaseStateMachine state =
      new LeaseStateMachine("orders", NotificationWorkers.same(Runnable::run));

  @AfterEach
  void close() {
    client.close();
  }

  private LeaseTiming granted(LeaseTerms terms) {
    return LeaseTiming.granted(
        context, id.protocol(), terms, AttemptStart.now(context.holds(), ticker));
  }

  private LeaseRenewal renewal(LeaseTiming timing) {
    RegisteredHold hold = FakeRegisteredHold.of((reason, atNanos, detail) -> losses.add(reason));
    return new LeaseRenewal(
        context, id, timing, state, new LossDetector(ticker, timing, state, hold), hold);
  }

  /** As after a broken connection; see {@link HoldRegistry#verifyAll}. */
  private void verify(LeaseRenewal renewal) {
    context.holds().endEpoch();
    renewal.requestVerification();
  }

  @Test
  void aVerificationThatIsRequestedWhileARequestBeginsGetsARequestOfItsOwn() {
    LeaseTiming timing = granted(FIXED); // whose request reads the clock, for the rest of its lease
    LeaseRenewal renewal = renewal(timing);
    long now = context.nanos();
    otherThread = () -> otherThread = () -> verify(renewal); // not yet at the look at the deadline
    renewal.onDue(now);

    renewal.onReply(CONFIRMED, now);

    assertTrue(renewal.dueNanos() - context.nanos() <= 0, "the next request is due at once");
    assertFalse(timing.isCertain(), "the answer belongs to the epoch before");
    renewal.onDue(context.nanos());
    renewal.onReply(CONFIRMED, now);
    assertTrue(timing.isCertain());
  }

  /** Its batch waits for a worker meanwhile. */
  @Test
  void aVerificationThatIsSentLateDoesNotLengthenAFixedLease() {
    LeaseTiming timing = granted(FIXED);
    LeaseRenewal renewal = renewal(timing);
    long deadline = timing.deadlineNanos();
    verify(renewal);
    renewal.onDue(context.nanos());

    renewal.onReply(CONFIRMED, context.nanos() + TimeUnit.SECONDS.toNanos(20));

    assertEquals(deadline, timing.deadlineNanos());
    assertTrue(timing.isCertain());
  }

  /** A script never shortens a lease, but it lengthens one to what is asked for. */
  @Test
  void aVerificationThatIsSentLateAsksForNoMoreThanTheRestOfTheLease() {
    LeaseRenewal renewal = renewal(granted(FIXED));
    verify(renewal);
    renewal.onDue(context.nanos());
    ScriptCall added = renewal.call();
    aheadNanos = TimeUnit.SECONDS.toNanos(20);

    ScriptCall sent = renewal.callToSend(added);

    assertTrue(leaseMillis(added) > 20_000, () -> added.toString());
    assertTrue(leaseMillis(sent) <= 10_000, () -> sent.toString());
    assertEquals(added.keys().size(), sent.keys().size());
  }

  private static long leaseMillis(ScriptCall call) {
    return Long.parseLong(new String(call.arguments().get(1), UTF_8));
  }

  @Test
  void aVerificationThatIsRequestedDuringARequestGetsOneOfItsOwnAfterTheReply() {
    LeaseTiming timing = granted(RENEWED);
    LeaseRenewal renewal = renewal(timing);
    long now = context.nanos();
    renewal.onDue(now);
    verify(renewal);
    assertFalse(renewal.isSettled());

    renewal.onReply(CONFIRMED, now);

    assertFalse(renewal.isSettled());
    assertTrue(renewal.dueNanos() - context.nanos() <= 0, "the next request is due at once");
    renewal.onDue(context.nanos());
    renewal.onReply(CONFIRMED, now);
    assertTrue(renewal.isSettled());
    assertTrue(renewal.dueNanos() - context.nanos() > 0, "and no third one");
  }

  /** Otherwise it would be handed off in between, and the next thread would not hear of it. */
  @Test
  void aHoldIsNotSettledBeforeItsReplyHasTakenEffectNorAfterOneThatRefusesIt() {
    LeaseTiming timing = granted(RENEWED);
    LeaseRenewal renewal = renewal(timing);
    long now = context.nanos();
    assertTrue(renewal.isSettled());
    renewal.onDue(now);
    List<Boolean> settled = new ArrayList<>();
    otherThread = () -> settled.add(renewal.isSettled());

    renewal.onReply(MISSING, now);

    assertEquals(List.of(Reason.MISSING), losses);
    assertEquals(List.of(false), settled);
    assertFalse(renewal.isSettled(), "also when a release has begun, so that it is not lost");
  }

  /** It comes after 100 ms, and the next request of a hold that is not lost after 10 s. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAnswerAfterALossDoesNotPutItsCheckOff(boolean isReply) {
    LeaseRenewal renewal = renewal(granted(RENEWED));
    long now = context.nanos();
    renewal.onDue(now);
    assertTrue(state.lose(new LeaseLoss("orders", 42, Reason.FORCED, now, "on purpose")));
    renewal.scheduleLossCheck();

    if (isReply) {
      renewal.onReply(CONFIRMED, now);
    } else {
      renewal.onFailure(new CommandException(Kind.UNREACHABLE, true, "on purpose", null));
    }

    assertTrue(renewal.dueNanos() - context.nanos() <= TimeUnit.MILLISECONDS.toNanos(100));
  }
}
