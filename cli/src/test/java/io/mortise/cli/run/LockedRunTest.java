package io.mortise.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The status of a run whose lock ends its wait, or its release, in an uncommon way. */
@Timeout(60)
class LockedRunTest {
  private final List<String> said = new ArrayList<>();
  private final SignalRelay signals = new SignalRelay(Thread.currentThread(), said::add);
  private final LockedRun run = run(false);

  private LockedRun run(boolean quorum) {
    return new LockedRun(
        "lock",
        new RunSettings(List.of("true"), Duration.ZERO, Duration.ZERO, 123, false, false, quorum),
        signals,
        said::add);
  }

  /** Returns a lock whose attempt ends in this way. */
  private static DistributedLock ending(Callable<Optional<?>> attempt) {
    return (DistributedLock)
        Proxy.newProxyInstance(
            DistributedLock.class.getClassLoader(),
            new Class<?>[] {DistributedLock.class},
            (proxy, method, arguments) -> attempt.call());
  }

  private void assertStopped(DistributedLock lock) {
    CommandFailure failure = assertThrows(CommandFailure.class, () -> run.under(lock));

    assertEquals(ExitStatus.RUN_SIGNAL + ProcessSignal.TERM.number(), failure.status());
    assertFalse(Thread.interrupted(), "the release would end early");
    assertEquals(List.of(), said);
  }

  @Test
  void aSignalCountsAlsoIfTheLockIsFoundBusyAtThatMoment() {
    assertStopped(
        ending(
            () -> {
              signals.receive(ProcessSignal.TERM);
              return Optional.empty();
            }));
  }

  @Test
  void aSignalCountsAlsoIfRedisCannotBeUsed() {
    assertStopped(
        ending(
            () -> {
              signals.receive(ProcessSignal.TERM);
              throw new LockException(LockException.Reason.UNREACHABLE, "on purpose", null);
            }));
  }

  @Test
  void withoutASignalTheLockIsBusy() throws Exception {
    assertEquals(123, run.under(ending(Optional::empty)));
    assertEquals(1, said.size());
  }

  /** Returns a lock whose release is in doubt. */
  private static DistributedLock grantedAndInDoubt() {
    return granted(true, new LockException(LockException.Reason.IN_DOUBT, "in doubt", null));
  }

  /** Returns a lock that is granted, valid or not, and whose release fails. */
  private static DistributedLock granted(boolean valid, RuntimeException atTheRelease) {
    Lease lease =
        (Lease)
            Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "isValid" -> valid;
                      case "fencingToken" -> 7L;
                      case "remaining" -> Duration.ofSeconds(30);
                      case "loss" -> Optional.empty();
                      case "close" -> throw atTheRelease;
                      default -> null;
                    });
    return ending(() -> Optional.of(lease));
  }

  @Test
  void aReleaseInDoubtIsALossOnOneServer() throws Exception {
    assertEquals(ExitStatus.RUN_LOST, run.under(grantedAndInDoubt()));
    assertEquals(List.of("in doubt"), said);
  }

  /** One of its nodes that answers late is enough for the doubt. */
  @Test
  void aReleaseInDoubtOfAQuorumLeavesTheStatusOfTheCommand() throws Exception {
    assertEquals(ExitStatus.OK, run(true).under(grantedAndInDoubt()));
    assertEquals(List.of("in doubt"), said);
  }

  @Test
  void aLossBeforeTheCommandIsStartedHasAStatusThatSaysThatItDidNotRun() {
    LeaseLoss loss =
        new LeaseLoss("lock", 7, LeaseLoss.Reason.EXPIRED, System.nanoTime(), "it is over");
    DistributedLock lock = granted(false, new LeaseLostException(loss));

    CommandFailure failure = assertThrows(CommandFailure.class, () -> run.under(lock));

    assertEquals(ExitStatus.RUN_REDIS, failure.status());
    assertEquals(List.of(), said, "the failure says it");
  }
}
