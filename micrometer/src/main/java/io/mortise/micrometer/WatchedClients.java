package io.mortise.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockClient;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * The clients whose status the gauges show, added up. Of a closed client only the number of dropped
 * events counts, because a counter must not go down. A client counts as closed from the beginning
 * of its close, and may drop its last events until a command timeout later: so those that were
 * closed last are still asked for that number.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@code lock} guards everything but {@code
 * ids}; no method sends a command or waits for one under it.
 */
final class WatchedClients {
  private static final int MAX_CLOSED = 100;

  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<LockClient> open = new LinkedHashSet<>();

  @GuardedBy("lock")
  private final Deque<LockClient> closed = new ArrayDeque<>();

  /** Those of both. No lock: it is asked for each event, and adding up takes a while. */
  private final Set<String> ids = ConcurrentHashMap.newKeySet();

  /** The dropped events of the clients that were closed before these. */
  @GuardedBy("lock")
  private long droppedBefore;

  private volatile boolean used;

  void add(LockClient client) {
    lock.lock();
    try {
      forgetClosed(); // gauges that nobody reads would keep them
      if (!closed.contains(client)) {
        open.add(client);
        ids.add(client.id());
      }
      used = true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a client was ever added; without one no number means anything. */
  boolean isUsed() {
    return used;
  }

  /** Returns whether the client with that id is open, or was one of the last to be closed. */
  boolean contains(String clientId) {
    return ids.contains(clientId);
  }

  /** Returns the number of all open clients together. */
  double sum(ToLongFunction<LockClient.Status> number) {
    lock.lock();
    try {
      forgetClosed();
      return sumOf(open, number);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of events that all clients have dropped, the closed ones included. */
  double droppedEvents() {
    lock.lock();
    try {
      forgetClosed();
      return droppedBefore
          + sumOf(open, LockClient.Status::droppedEvents)
          + sumOf(closed, LockClient.Status::droppedEvents);
    } finally {
      lock.unlock();
    }
  }

  private static long sumOf(
      Collection<LockClient> clients, ToLongFunction<LockClient.Status> number) {
    return clients.stream().mapToLong(client -> number.applyAsLong(client.status())).sum();
  }

  @GuardedBy("lock")
  private void forgetClosed() {
    for (Iterator<LockClient> clients = open.iterator(); clients.hasNext(); ) {
      LockClient client = clients.next();
      if (client.isClosed()) {
        clients.remove();
        closed.addLast(client);
        if (closed.size() > MAX_CLOSED) {
          LockClient oldest = closed.removeFirst();
          droppedBefore += oldest.status().droppedEvents();
          ids.remove(oldest.id());
        }
      }
    }
  }
}
