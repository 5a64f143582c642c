package io.mortise.cli.run;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The relay of the signals that this process receives. Before the command is started a signal ends
 * the wait for the lock, and the command is not started. While the command runs, the signal is
 * passed on to it. After its end only the release is left, which is short.
 *
 * <p><b>Threads.</b> Any thread may call it; the monitor orders a signal and the start.
 */
final class SignalRelay {
  private static final List<ProcessSignal> PASSED_ON =
      List.of(ProcessSignal.TERM, ProcessSignal.INT, ProcessSignal.HUP);

  private final Thread waiter;
  private final Consumer<String> report;
  private @Nullable ProcessSignal stopped;
  private @Nullable CommandProcess running;
  private boolean ended;

  SignalRelay(Thread waiter, Consumer<String> report) {
    this.waiter = waiter;
    this.report = report;
  }

  /**
   * Handles signals from now on.
   *
   * @param waiter the thread that waits for the lock, which a signal interrupts
   * @param report receives sentences for the user; must not block
   */
  static SignalRelay install(Thread waiter, Consumer<String> report) {
    SignalRelay relay = new SignalRelay(waiter, report);
    PASSED_ON.forEach(signal -> SignalHandlers.handle(signal, relay::receive));
    return relay;
  }

  void receive(ProcessSignal signal) {
    if (!accept(signal)) {
      report.accept( // outside: a reader of the message that stalls must not keep the lock
          "SIG%s could not be passed on to the command, which goes on; does it run as another user?"
              .formatted(signal));
    }
  }

  private synchronized boolean accept(ProcessSignal signal) {
    if (running != null) {
      return running.passOn(signal);
    }
    if (!ended && stopped == null) {
      stopped = signal;
      waiter.interrupt();
    }
    return true;
  }

  /**
   * Starts the command; later signals are for it.
   *
   * @throws CommandFailure if a signal has arrived before
   */
  synchronized CommandProcess start(String lockName, Supplier<CommandProcess> starter) {
    throwIfStopped(lockName);
    CommandProcess command = starter.get();
    running = command;
    return command;
  }

  /** Passes on no signal any more: the command has ended. */
  synchronized void ended() {
    running = null;
    ended = true;
  }

  /**
   * Throws the failure of a wait during which a signal has arrived: it counts also when the wait
   * has ended otherwise at that moment. The waiter calls it, and loses its interrupt status.
   */
  synchronized void throwIfStopped(String lockName) {
    if (stopped != null) {
      Thread.interrupted();
      throw stop(lockName);
    }
  }

  /** Returns the failure of a wait that was interrupted. */
  synchronized CommandFailure stop(String lockName) {
    ProcessSignal signal = stopped == null ? ProcessSignal.INT : stopped;
    return new CommandFailure(
        ExitStatus.RUN_SIGNAL + signal.number(),
        "SIG%s arrived before lock '%s' was acquired; the command was not run"
            .formatted(signal, lockName),
        null);
  }
}
