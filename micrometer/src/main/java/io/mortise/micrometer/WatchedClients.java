package io.mortise.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockClient;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * The clients whose status the gauges show, added up. A closed client is dropped, and only its
 * number of dropped events is kept, because a counter must not go down.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@code lock} guards everything; no method
 * sends a command or waits for one under it.
 */
final class WatchedClients {
  private static final int MAX_CLOSED_IDS = 100;

  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Set<LockClient> open = new LinkedHashSet<>();

  /** Those that were closed last: their last events may arrive afterwards. */
  @GuardedBy("lock")
  private final Deque<String> closedIds = new ArrayDeque<>();

  @GuardedBy("lock")
  private long droppedBefore;

  private volatile boolean used;

  void add(LockClient client) {
    lock.lock();
    try {
      forgetClosed(); // gauges that nobody reads would keep them
      open.add(client);
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
    lock.lock();
    try {
      return open.stream().anyMatch(client -> client.id().equals(clientId))
          || closedIds.contains(clientId);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of all open clients together. */
  double sum(ToLongFunction<LockClient.Status> number) {
    lock.lock();
    try {
      forgetClosed();
      return sumOfOpen(number);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of events that all clients have dropped, the closed ones included. */
  double droppedEvents() {
    lock.lock();
    try {
      forgetClosed();
      return droppedBefore + sumOfOpen(LockClient.Status::droppedEvents);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private long sumOfOpen(ToLongFunction<LockClient.Status> number) {
    return open.stream().mapToLong(client -> number.applyAsLong(client.status())).sum();
  }

  @GuardedBy("lock")
  private void forgetClosed() {
    for (Iterator<LockClient> clients = open.iterator(); clients.hasNext(); ) {
      LockClient client = clients.next();
      if (client.isClosed()) {
        droppedBefore += client.status().droppedEvents();
        clients.remove();
        closedIds.addLast(client.id());
        if (closedIds.size() > MAX_CLOSED_IDS) {
          closedIds.removeFirst();
        }
      }
    }
  }
}
