package io.mortise.cli.run;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import io.mortise.cli.options.OptionNames;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * One run of a command under a lock: acquires the lock, starts the command, waits for its end or
 * for the loss of the lock, and releases.
 *
 * <p>The lock is released after the command has ended. When it is lost, the command is ended, and
 * the status says so whatever the command's own is: a part of its work was not protected.
 *
 * <p><b>Threads.</b> For one thread, whose interrupts it uses.
 */
public final class LockedRun {
  /** The variables that the command finds in its environment. */
  public static final String LOCK_VARIABLE = "MORTISE_LOCK";

  public static final String TOKEN_VARIABLE = "MORTISE_TOKEN";

  private final String lockName;
  private final RunSettings settings;
  private final SignalRelay signals;
  private final Consumer<String> report;

  LockedRun(String lockName, RunSettings settings, SignalRelay signals, Consumer<String> report) {
    this.lockName = lockName;
    this.settings = settings;
    this.signals = signals;
    this.report = report;
  }

  /**
   * Prepares a run: checks the command, and handles the signals of this process from now on.
   *
   * @param lockName the whole name of the lock
   * @param report receives sentences for the user; must not block
   * @throws CommandFailure if there is no such command
   */
  public static LockedRun prepare(String lockName, RunSettings settings, Consumer<String> report) {
    CommandLookUp.check(settings.command().get(0));
    SignalRelay signals = SignalRelay.install(Thread.currentThread(), report);
    return new LockedRun(lockName, settings, signals, report);
  }

  /**
   * Runs the command under this lock.
   *
   * @return the exit status: that of the command, that of a loss, or that of a conflict
   * @throws CommandFailure if the command was not run for another reason
   * @throws StartInDoubtException if the command may run unwatched: then the lock is still held
   */
  public int under(DistributedLock lock) throws InterruptedException {
    Optional<Lease> granted = acquire(lock);
    if (granted.isEmpty()) {
      if (!settings.quiet()) {
        report.accept(
            ("lock '%s' is held by another owner; 'mortise inspect' shows by whom, and --wait"
                    + " allows for a longer wait")
                .formatted(lockName));
      }
      return settings.conflictStatus();
    }
    Lease lease = granted.get();
    int status;
    try {
      status = runWhile(lease);
    } catch (CommandFailure e) {
      Thread.interrupted(); // of a signal that arrived at the moment of the grant
      var unused = release(lease, e.status());
      throw e;
    }
    return release(lease, status);
  }

  private Optional<Lease> acquire(DistributedLock lock) {
    Duration wait = settings.maxWait();
    try {
      Optional<Lease> granted = wait == null ? Optional.of(lock.acquire()) : lock.acquire(wait);
      if (granted.isEmpty()) {
        signals.throwIfStopped(lockName);
      }
      return granted;
    } catch (InterruptedException e) {
      throw signals.stop(lockName);
    } catch (LockException e) {
      signals.throwIfStopped(lockName);
      throw new CommandFailure(ExitStatus.RUN_REDIS, String.valueOf(e.getMessage()), e);
    } catch (IllegalStateException e) { // two of the servers are one
      throw new CommandFailure(ExitStatus.RUN_FAILED, String.valueOf(e.getMessage()), e);
    }
  }

  private int runWhile(Lease lease) throws InterruptedException {
    CompletableFuture<LeaseLoss> lost = new CompletableFuture<>();
    lease.onLost(lost::complete);
    if (!lease.isValid()) {
      throw new CommandFailure(
          ExitStatus.RUN_REDIS,
          "lock '%s' was lost before the command was started: %s"
              .formatted(
                  lockName,
                  lease
                      .loss()
                      .map(loss -> OptionNames.in(loss.detail()))
                      .orElse("its lease is over")),
          null);
    }
    Map<String, String> environment =
        Map.of(LOCK_VARIABLE, lockName, TOKEN_VARIABLE, Long.toString(lease.fencingToken()));
    CommandProcess command =
        signals.start(
            lockName,
            () -> CommandProcess.start(settings.command(), environment, settings.foreground()));
    try {
      awaitFirst(command.onExit(), lost);
      if (!command.isRunning()) {
        return command.exitStatus();
      }
      end(command, lost.join());
      return ExitStatus.RUN_LOST;
    } catch (InterruptedException | RuntimeException | Error e) {
      endAfterFailure(command);
      throw e;
    } finally {
      signals.ended();
    }
  }

  /** Ends the command when this program has failed: the lock must not be released before. */
  private void endAfterFailure(CommandProcess command) {
    boolean interrupted = Thread.interrupted();
    try {
      var unused = command.end(settings.grace(), () -> {});
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      command.killAndWait();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void awaitFirst(CompletableFuture<?>... futures) throws InterruptedException {
    try {
      Object unused = CompletableFuture.anyOf(futures).get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /** The report comes after TERM, and must not wait for its reader. */
  private void end(CommandProcess command, LeaseLoss loss) throws InterruptedException {
    CommandProcess.Ending ending =
        command.end(
            settings.grace(),
            () ->
                report.accept(
                    "lock '%s' was lost: %s; the command gets TERM, and KILL after %d ms"
                        .formatted(
                            lockName, OptionNames.in(loss.detail()), settings.grace().toMillis())));
    switch (ending) {
      case TERM -> {}
      case KILL ->
          report.accept(
              "the command, or a process that it started, did not end at TERM; it was killed");
      case NONE ->
          report.accept(
              "the command, or a process that it started, did not end at KILL either; does it run as another user?"
                  + (command.isRunning() ? " mortise waits for the command" : ""));
    }
    command.awaitUninterruptibly();
  }

  /**
   * Releases the lock, and returns the status of the run. A release in doubt counts as a loss on
   * one server, which has restarted, or was replaced, and may have lost it; on several, one that
   * answers late is enough for the doubt.
   */
  private int release(Lease lease, int status) {
    Duration remaining = lease.remaining();
    try {
      lease.close();
      return status;
    } catch (LeaseLostException e) {
      if (status != ExitStatus.RUN_LOST && status != ExitStatus.RUN_REDIS) { // not said already
        report.accept(
            "lock '%s' was lost before the command ended: %s"
                .formatted(lockName, OptionNames.in(e.loss().detail())));
      }
      return ExitStatus.RUN_LOST;
    } catch (LockException e) {
      if (e.reason() == LockException.Reason.IN_DOUBT) {
        report.accept(OptionNames.in(String.valueOf(e.getMessage())));
        return settings.quorum() ? status : ExitStatus.RUN_LOST;
      }
      report.accept(
          "Redis did not confirm the release of lock '%s'; it stays until its lease ends, in about %d s"
              .formatted(lockName, remaining.toSeconds() + 1));
      return status;
    }
  }
}
