package io.mortise.redlock;

import io.mortise.core.spi.LeaseSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Calls several members at the same time, each on a thread of its own client, and collects their
 * replies.
 *
 * <p><b>A full heap.</b> Every call has its reply delivered, whatever it throws: what the delivery
 * needs is made before the call. So is {@link #close}, after which {@link #valueAt} has every
 * grant.
 *
 * <p><b>A pause of this process</b>, as for a garbage collection, may last for longer than a wait:
 * then the replies have arrived, and the threads that read them stood still too. A thread that
 * wakes late waits once more, for as long as it was late and at most as long as the first time.
 * Otherwise a healthy quorum would seem to be silent.
 *
 * <p><b>Threads.</b> One thread submits the calls and waits. The threads that deliver replies
 * synchronize with it by the monitor, to enter which needs no memory and under which nothing
 * blocks, and unpark it when the replies are enough. {@link #close} hands the rest to a {@link
 * LateReplyHandler}: a later reply goes to it, on the thread that delivers the reply. Every reply
 * is seen exactly once: by the waiting thread, or by the handler.
 */
final class FanOut<T> {
  private final List<QuorumMember> members;
  private final long budgetNanos;

  // All guarded by the monitor.
  private final List<MemberCall<T>> calls;
  private Predicate<FanOut<T>> sufficient = none -> false;
  private @Nullable LateReplyHandler<T> late;
  private boolean interruptRequested;
  private @Nullable Thread waiter;

  /** Accepts replies that arrive after {@link #close}. */
  @FunctionalInterface
  interface LateReplyHandler<T> {
    void accept(int place, T value);
  }

  /** Returns a handler that does nothing. */
  static <T> LateReplyHandler<T> ignoreLate() {
    return (place, value) -> {};
  }

  /**
   * @param budgetNanos how long a member may take to reply
   */
  FanOut(List<QuorumMember> members, long budgetNanos) {
    this.members = members;
    this.budgetNanos = budgetNanos;
    this.calls = new ArrayList<>(members.size());
    for (int i = 0; i < members.size(); i++) {
      calls.add(new MemberCall<>());
    }
  }

  /** Submits a call to a member, on a thread of its client; not to one that is silent. */
  void submit(int place, Callable<T> task) {
    if (members.get(place).isSilent(budgetNanos)) {
      refuse(place);
      return;
    }
    try {
      execute(place, task);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      deliver(place, null, noThread);
    }
  }

  /** As {@link #submit}, but runs the call on the calling thread if no other is available. */
  void submitOrRun(int place, Callable<T> task) {
    try {
      execute(place, task);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      boolean interrupted = Thread.interrupted(); // it is meant for the caller, not for the call
      try {
        call(place, task, false);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private void execute(int place, Callable<T> task) {
    var unused = members.get(place).source().submit(() -> call(place, task, true));
    markAsked(place); // not before: no reply may follow an error
  }

  /** Records that a member is not called, because it is silent. */
  void refuse(int place) {
    deliver(place, null, members.get(place).notAsked());
  }

  /** Records the reply of a member that need not be called. */
  void answer(int place, T value) {
    markAsked(place);
    deliver(place, value, null);
  }

  private synchronized void markAsked(int place) {
    calls.get(place).asked = true; // without memory: the call has been submitted
  }

  /** Returns whether the member was called, or need not be. */
  synchronized boolean isAsked(int place) {
    return calls.get(place).asked;
  }

  /** Makes a call; one on a thread of a client is interruptible, by {@link #close}. */
  private void call(int place, Callable<T> task, boolean interruptible) {
    T value = null;
    Throwable failure = null;
    try {
      if (!interruptible || onStart(place)) {
        value = task.call();
        members.get(place).onReply();
      }
    } catch (Throwable e) { // an error too is a reply; an interrupt: it is not needed
      failure = e;
    }
    if (interruptible) {
      onEnd(place);
      Thread.interrupted(); // an interrupt that came too late is meant for no other task
    }
    deliver(place, value, failure);
  }

  /** Registers the thread of a call: from here on {@link #close} can interrupt it. */
  private synchronized boolean onStart(int place) {
    calls.get(place).thread = Thread.currentThread();
    return !interruptRequested;
  }

  private synchronized void onEnd(int place) {
    calls.get(place).thread = null;
  }

  private void deliver(int place, @Nullable T value, @Nullable Throwable failure) {
    LateReplyHandler<T> handler;
    boolean abandoned;
    synchronized (this) {
      MemberCall<T> call = calls.get(place);
      abandoned = call.isOpen(); // since the close
      handler = late;
      if (handler == null) {
        call.value = value;
        call.failure = failure;
        call.answered = true;
        boolean over = true;
        try {
          over = isOver();
        } finally { // after an error the waiter looks for itself
          if (over) {
            LockSupport.unpark(waiter);
          }
        }
        return;
      }
    }
    if (abandoned) {
      members.get(place).health().onAbandonedEnd();
    }
    if (value != null) {
      handler.accept(place, value);
    }
  }

  /**
   * Waits until the replies so far are enough, all members have replied, or the time is over; see
   * <b>A pause of this process</b>.
   *
   * @throws InterruptedException if the thread is interrupted; the calls go on
   */
  void await(Predicate<FanOut<T>> enough, long timeoutNanos) throws InterruptedException {
    if (await(enough, timeoutNanos, true)) {
      throw new InterruptedException();
    }
  }

  /** As {@link #await}; an interrupt does not end the wait, and its status is kept. */
  void awaitUninterruptibly(Predicate<FanOut<T>> enough, long timeoutNanos) {
    if (await(enough, timeoutNanos, false)) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * As {@link #awaitUninterruptibly}, and then ends the wait, also after an error: nobody reads
   * later replies.
   */
  void awaitAndClose(Predicate<FanOut<T>> enough, long timeoutNanos) {
    try {
      awaitUninterruptibly(enough, timeoutNanos);
    } finally {
      close(false, ignoreLate());
    }
  }

  /** Returns whether the thread was interrupted; after an error it still has that status. */
  private boolean await(
      Predicate<FanOut<T>> enough, long timeoutNanos, boolean endsWithAnInterrupt) {
    synchronized (this) {
      sufficient = enough;
      waiter = Thread.currentThread();
    }
    LeaseSource clock = members.get(0).source();
    long untilNanos = clock.nanoTime() + timeoutNanos;
    boolean interrupted = false;
    boolean prolonged = false;
    try {
      while (true) {
        interrupted |= Thread.interrupted();
        if ((interrupted && endsWithAnInterrupt) || isOver()) {
          return interrupted;
        }
        long left = untilNanos - clock.nanoTime();
        if (left < 0 && !prolonged) {
          prolonged = true;
          untilNanos += -left + Math.min(-left, timeoutNanos);
        } else if (left <= 0) {
          return interrupted;
        } else {
          LockSupport.parkNanos(this, left);
        }
      }
    } catch (RuntimeException | Error e) {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      throw e;
    }
  }

  private synchronized boolean isOver() {
    return open() == 0 || sufficient.test(this);
  }

  /**
   * Ends the wait: later replies go to {@code rest}. Allocates nothing, and may be called again,
   * with another handler.
   */
  synchronized void close(boolean interrupt, LateReplyHandler<T> rest) {
    boolean first = late == null;
    late = rest;
    interruptRequested = interrupt;
    for (int i = 0; i < calls.size(); i++) {
      MemberCall<T> call = calls.get(i);
      if (first && call.isOpen()) {
        members.get(i).onAbandoned();
      }
      if (interrupt && call.thread != null) {
        call.thread.interrupt();
      }
    }
  }

  /** Returns how many members have been called and have not replied. */
  synchronized int open() {
    return (int) calls.stream().filter(MemberCall::isOpen).count();
  }

  /** Returns the value that a member has replied; null if there is none. Allocates nothing. */
  synchronized @Nullable T valueAt(int place) {
    return calls.get(place).value;
  }

  /** Returns the replies so far; null for a member that was not called, or has not replied. */
  synchronized List<@Nullable NodeReply<T>> replies() {
    List<@Nullable NodeReply<T>> replies = new ArrayList<>(calls.size());
    for (int i = 0; i < calls.size(); i++) {
      replies.add(calls.get(i).reply(members.get(i)));
    }
    return replies;
  }

  /** Returns how many replies have a value that matches. */
  synchronized int count(Predicate<T> matches) {
    int count = 0;
    for (MemberCall<T> call : calls) {
      count += call.value != null && matches.test(call.value) ? 1 : 0;
    }
    return count;
  }
}
