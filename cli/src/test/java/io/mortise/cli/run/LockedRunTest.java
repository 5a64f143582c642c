package io.mortise.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The status of a run whose wait ends at the moment at which a signal arrives. */
@Timeout(60)
class LockedRunTest {
  private final List<String> said = new ArrayList<>();
  private final SignalRelay signals = new SignalRelay(Thread.currentThread(), said::add);
  private final LockedRun run =
      new LockedRun(
          "lock",
          new RunSettings(List.of("true"), Duration.ZERO, Duration.ZERO, 123, false, false),
          signals,
          said::add);

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
}
