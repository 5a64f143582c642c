package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls several members at the same time, each on a thread of its own client, and collects their
 * replies.
 *
 * <p><b>Threads.</b> One thread submits the calls and waits. The threads that deliver replies
 * synchronize with it by the lock, and signal it when the replies are enough. {@link #close} hands
 * the rest to a {@link LateReplyHandler}: a later reply goes to it, on the thread that delivers the
 * reply. Every reply is seen exactly once: by the waiting thread, or by the handler.
 *
 * @param <T> the type of a reply
 */
final class FanOut<T> {
  private final List<QuorumMember> members;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition enoughReplies = lock.newCondition();

  // All guarded by lock.
  private final List<@Nullable NodeReply<T>> replies;
  private final @Nullable Thread[] callThreads;
  private final boolean[] asked;
  private Predicate<FanOut<T>> sufficient = none -> false;
  private @Nullable LateReplyHandler<T> late;
  private boolean interruptRequested;

  /** Accepts replies that arrive after {@link #close}. */
  @FunctionalInterface
  interface LateReplyHandler<T> {
    void accept(int place, T value);
  }

  /**
   * The reply of a member.
   *
   * @param value null when the call failed
   * @param failure null when the call succeeded
   */
  record NodeReply<T>(@Nullable T value, @Nullable RuntimeException failure) {}

  FanOut(List<QuorumMember> members) {
    this.members = members;
    this.replies = new ArrayList<>(Collections.nCopies(members.size(), null));
    this.callThreads = new @Nullable Thread[members.size()];
    this.asked = new boolean[members.size()];
  }

  /** Submits a call to a member, on a thread of its client. */
  void submit(int place, Callable<T> task) {
    try {
      execute(place, task);
    } catch (RejectedExecutionException e) {
      deliver(
          place,
          new NodeReply<>(
              null,
              new LockException(
                  Reason.CLIENT_CLOSED, members.get(place) + ": its client was closed", e)));
    } catch (OutOfMemoryError noThread) {
      deliver(
          place,
          new NodeReply<>(
              null, members.get(place).noReply("no thread could be started", noThread)));
    }
  }

  /** As {@link #submit}, but runs the call on the calling thread if no other is available. */
  void submitOrRun(int place, Callable<T> task) {
    try {
      execute(place, task);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      boolean interrupted = Thread.interrupted(); // it is meant for the caller, not for the call
      try {
        call(place, task);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private void execute(int place, Callable<T> task) {
    markAsked(place);
    var unused = members.get(place).source().submit(() -> call(place, task));
  }

  /** Records the reply of a member that need not be called. */
  void answer(int place, T value) {
    markAsked(place);
    deliver(place, new NodeReply<>(value, null));
  }

  private void markAsked(int place) {
    lock.lock();
    try {
      asked[place] = true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the member was called, or need not be. */
  boolean isAsked(int place) {
    return holdingLock(() -> asked[place]);
  }

  private void call(int place, Callable<T> task) {
    NodeReply<T> reply =
        new NodeReply<>(null, members.get(place).noReply("could not be asked", null));
    try {
      if (onStart(place)) {
        reply = new NodeReply<>(task.call(), null);
      }
    } catch (RuntimeException e) {
      reply = new NodeReply<>(null, e);
    } catch (Exception e) { // an interrupt: the reply is not needed
      reply = new NodeReply<>(null, members.get(place).noReply("was not awaited", e));
    } finally {
      onEnd(place);
      deliver(place, reply);
    }
  }

  /** Registers the thread of a call: from here on {@link #close} can interrupt it. */
  private boolean onStart(int place) {
    lock.lock();
    try {
      callThreads[place] = Thread.currentThread();
      return !interruptRequested;
    } finally {
      lock.unlock();
    }
  }

  private void onEnd(int place) {
    lock.lock();
    try {
      callThreads[place] = null;
    } finally {
      lock.unlock();
    }
    Thread.interrupted(); // an interrupt that came too late is meant for no other task
  }

  private void deliver(int place, NodeReply<T> reply) {
    LateReplyHandler<T> handler;
    lock.lock();
    try {
      handler = late;
      if (handler == null) {
        replies.set(place, reply);
        if (isOver()) {
          enoughReplies.signal();
        }
        return;
      }
    } finally {
      lock.unlock();
    }
    members.get(place).abandonedCalls().decrementAndGet();
    if (reply.value() != null) {
      handler.accept(place, reply.value());
    }
  }

  /**
   * Waits until the replies so far are enough, all members have replied, or the time is over.
   *
   * @throws InterruptedException if the thread is interrupted; the calls go on
   */
  void await(Predicate<FanOut<T>> enough, long untilNanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      sufficient = enough;
      while (!isOver()) {
        long left = untilNanos - members.get(0).source().nanoTime();
        if (left <= 0) {
          return;
        }
        enoughReplies.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isOver() {
    return open() == 0 || sufficient.test(this);
  }

  /** As {@link #await}; an interrupt does not end the wait, and its status is kept. */
  void awaitUninterruptibly(Predicate<FanOut<T>> enough, long untilNanos) {
    boolean interrupted = false;
    while (true) {
      try {
        await(enough, untilNanos);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends the wait: later replies go to {@code rest}.
   *
   * @param interrupt whether to interrupt the calls in progress
   * @return the reply of each member; null for one that was not called, or has not replied
   */
  List<@Nullable NodeReply<T>> close(boolean interrupt, LateReplyHandler<T> rest) {
    lock.lock();
    try {
      List<@Nullable NodeReply<T>> soFar = new ArrayList<>(replies); // before anything is changed
      late = rest;
      interruptRequested = interrupt;
      for (int i = 0; i < asked.length; i++) {
        Thread thread = callThreads[i];
        if (asked[i] && replies.get(i) == null) {
          members.get(i).abandonedCalls().incrementAndGet();
        }
        if (interrupt && thread != null) {
          thread.interrupt();
        }
      }
      return soFar;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many members have been called and have not replied. */
  int open() {
    return holdingLock(
        () -> {
          int open = 0;
          for (int i = 0; i < asked.length; i++) {
            open += asked[i] && replies.get(i) == null ? 1 : 0;
          }
          return open;
        });
  }

  /** Returns the reply of each member so far; null for one that has not replied. */
  List<@Nullable NodeReply<T>> replies() {
    return holdingLock(() -> new ArrayList<>(replies));
  }

  /** Returns how many replies have a value that matches. */
  int count(Predicate<T> matches) {
    return holdingLock(
        () -> {
          int count = 0;
          for (NodeReply<T> reply : replies) {
            T value = reply == null ? null : reply.value();
            count += value != null && matches.test(value) ? 1 : 0;
          }
          return count;
        });
  }

  private <R> R holdingLock(Supplier<R> read) {
    lock.lock();
    try {
      return read.get();
    } finally {
      lock.unlock();
    }
  }
}
