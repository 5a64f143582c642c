package io.mortise.core.internal.lease;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.SharedWorkers;
import io.mortise.scripts.ScriptCall;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The workers of the releases in the background: a few for each server, so that a silent one delays
 * only its own releases.
 *
 * <p>Example: a client has lost a hundred holds of a MultiLock, each with a member on a master that
 * does not answer and one on another. Each release at the first costs a worker a command timeout;
 * with common workers those at the other would wait behind all of them.
 *
 * <p><b>Threads.</b> Any thread may call every method, see {@link SharedWorkers}. A release stays
 * with the workers of the server that has its slot when it begins to wait. After a failover it runs
 * when one of these is free, at the server that has the slot by then.
 */
final class ReleaseWorkers {
  /** The number of workers of a server at a time. */
  static final int MAX_WORKERS = 8;

  private final ScriptExecutor commands;
  private final Consumer<Runnable> starter;

  /** Those of each server that has ever had a release to wait for a worker. */
  private final Map<Object, SharedWorkers> byServer = new ConcurrentHashMap<>();

  /**
   * @param starter runs a worker on a thread of its own; throws if it cannot
   */
  ReleaseWorkers(ScriptExecutor commands, Consumer<Runnable> starter) {
    this.commands = commands;
    this.starter = starter;
  }

  /** Adds a task that sends the call, without a worker for it: {@link #ensureWorkers} follows. */
  void add(ScriptCall call, Runnable task) {
    byServer
        .computeIfAbsent(
            commands.serverOf(call), server -> new SharedWorkers(starter, MAX_WORKERS, false))
        .add(task);
  }

  /** Starts one more worker for each server for which tasks wait, if it may have one. */
  void ensureWorkers() {
    byServer.values().forEach(SharedWorkers::ensureWorker);
  }
}
