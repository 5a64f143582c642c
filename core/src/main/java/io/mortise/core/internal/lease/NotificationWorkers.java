package io.mortise.core.internal.lease;

import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.SharedWorkers;
import java.util.concurrent.Executor;

/**
 * The executors for the notifications of the holds of one client. A listener of the user may block,
 * so each hold has a worker of its own for its listeners. The notifications of the client itself
 * share a few workers, because a client may lose all of its holds at once.
 *
 * <p><b>Threads.</b> As its executors: any thread may call them.
 *
 * @param listeners for listeners of the user; throws a {@link
 *     java.util.concurrent.RejectedExecutionException} when its threads have ended
 * @param dependents for what composite holds and leak detection do with a change; never blocks
 * @param logs for a line of the log, which may block, and then delays nothing but the log
 */
public record NotificationWorkers(Executor listeners, Executor dependents, Executor logs) {
  private static final int MAX_FOR_DEPENDENTS = 4;

  /** Returns those of a client. */
  public static NotificationWorkers of(BackgroundTasks tasks) {
    return new NotificationWorkers(
        tasks::execute,
        new SharedWorkers(tasks::execute, MAX_FOR_DEPENDENTS, true)::execute,
        new SharedWorkers(tasks::execute, 1, true)::execute);
  }
}
