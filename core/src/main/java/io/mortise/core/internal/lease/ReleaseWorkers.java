package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.SharedWorkers;
import io.mortise.scripts.ScriptCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The workers of the releases in the background: a few for each server, so that a silent one delays
 * only its own releases.
 *
 * <p>Example: a client has lost a hundred holds of a MultiLock, each with a member on a master that
 * does not answer and one on another. Each release at the first costs a worker a command timeout;
 * with common workers those at the other would wait behind all of them.
 *
 * <p>A release stays with the workers of the server that has its slot when it begins to wait. After
 * a failover it runs when one of these is free, at the server that has the slot by then. The
 * workers of a server for which nothing waits or runs are forgotten when the next release begins to
 * wait: it may be gone.
 *
 * <p><b>Threads.</b> Any thread may call every method. The monitor guards the servers: a task is
 * added, and idle workers are forgotten, under it. A worker is started outside of it.
 */
final class ReleaseWorkers {
  /** The number of workers of a server at a time. */
  static final int MAX_WORKERS = 8;

  private final ScriptExecutor commands;
  private final Consumer<Runnable> starter;

  /** Those of each server that had something to do when {@link #ensureWorkers} looked last. */
  @GuardedBy("this")
  private final Map<Object, SharedWorkers> byServer = new HashMap<>();

  /**
   * @param starter runs a worker on a thread of its own; throws if it cannot
   */
  ReleaseWorkers(ScriptExecutor commands, Consumer<Runnable> starter) {
    this.commands = commands;
    this.starter = starter;
  }

  /** Adds a task that sends the call, without a worker for it: {@link #ensureWorkers} follows. */
  void add(ScriptCall call, Runnable task) {
    Object server = commands.serverOf(call);
    synchronized (this) {
      byServer
          .computeIfAbsent(server, added -> new SharedWorkers(starter, MAX_WORKERS, false))
          .add(task);
    }
  }

  /** Starts one more worker for each server for which tasks wait, if it may have one. */
  void ensureWorkers() {
    present().forEach(SharedWorkers::ensureWorker);
  }

  private synchronized List<SharedWorkers> present() {
    byServer.values().removeIf(SharedWorkers::isIdle);
    return List.copyOf(byServer.values());
  }

  /** Returns the number of servers that are not forgotten. Package-private for tests. */
  synchronized int servers() {
    return byServer.size();
  }
}
