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
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One question to several members at the same time, each asked on a thread of its own client.
 *
 * <p><b>Threads.</b> One thread asks and waits; those that bring answers meet it under the lock
 * here, and wake it when what they bring is enough. It says what is to become of the rest: an
 * answer that comes later is given to {@code late}, on the thread that brings it. Every answer is
 * seen exactly once: by who waits, or by {@code late}.
 *
 * @param <T> what is answered
 */
final class FanOut<T> {
  private final List<QuorumMember> members;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition answered = lock.newCondition();

  // All guarded by lock.
  private final List<@Nullable Answer<T>> answers;
  private final @Nullable Thread[] answering;
  private final boolean[] asked;
  private Predicate<FanOut<T>> awaited = none -> false;
  private @Nullable Late<T> late;
  private boolean interrupts;

  /** Takes answers that come after the end. */
  @FunctionalInterface
  interface Late<T> {
    void accept(int place, T value);
  }

  /**
   * What a member said.
   *
   * @param value null when it failed
   * @param failure null when it did not
   */
  record Answer<T>(@Nullable T value, @Nullable RuntimeException failure) {}

  FanOut(List<QuorumMember> members) {
    this.members = members;
    this.answers = new ArrayList<>(Collections.nCopies(members.size(), null));
    this.answering = new @Nullable Thread[members.size()];
    this.asked = new boolean[members.size()];
  }

  /** Has the question put to a member, by a thread of its client. */
  void submit(int place, Callable<T> question) {
    try {
      execute(place, question);
    } catch (RejectedExecutionException e) {
      put(
          place,
          new Answer<>(
              null,
              new LockException(
                  Reason.CLIENT_CLOSED, members.get(place) + ": its client was closed", e)));
    } catch (OutOfMemoryError noThread) {
      put(
          place,
          new Answer<>(null, members.get(place).silent("no thread could be started", noThread)));
    }
  }

  /** As {@link #submit}, in any case: by the calling thread, when no other can be had. */
  void submitOrRun(int place, Callable<T> question) {
    try {
      execute(place, question);
    } catch (RejectedExecutionException | OutOfMemoryError noThread) {
      boolean interrupted = Thread.interrupted(); // which is the caller's, not the answer's
      try {
        answer(place, question);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private void execute(int place, Callable<T> question) {
    asks(place);
    var unused = members.get(place).source().submit(() -> answer(place, question));
  }

  /** Answers for a member that need not be asked. */
  void answer(int place, T value) {
    asks(place);
    put(place, new Answer<>(value, null));
  }

  private void asks(int place) {
    lock.lock();
    try {
      asked[place] = true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the member was asked, or need not be. */
  boolean isAsked(int place) {
    return holdingLock(() -> asked[place] ? 1 : 0) == 1;
  }

  private void answer(int place, Callable<T> question) {
    Answer<T> answer = new Answer<>(null, members.get(place).silent("could not be asked", null));
    try {
      if (begins(place)) {
        answer = new Answer<>(question.call(), null);
      }
    } catch (RuntimeException e) {
      answer = new Answer<>(null, e);
    } catch (Exception e) { // an interrupt: nobody wants the answer
      answer = new Answer<>(null, members.get(place).silent("was not awaited", e));
    } finally {
      ends(place);
      put(place, answer);
    }
  }

  /** From here on an interrupt reaches the one that answers. */
  private boolean begins(int place) {
    lock.lock();
    try {
      answering[place] = Thread.currentThread();
      return !interrupts;
    } finally {
      lock.unlock();
    }
  }

  private void ends(int place) {
    lock.lock();
    try {
      answering[place] = null;
    } finally {
      lock.unlock();
    }
    Thread.interrupted(); // one that came too late is nobody else's
  }

  private void put(int place, Answer<T> answer) {
    Late<T> after;
    lock.lock();
    try {
      after = late;
      if (after == null) {
        answers.set(place, answer);
        if (isOver()) {
          answered.signal();
        }
        return;
      }
    } finally {
      lock.unlock();
    }
    members.get(place).unawaited().decrementAndGet();
    if (answer.value() != null) {
      after.accept(place, answer.value());
    }
  }

  /**
   * Waits until the answers so far are enough, all have answered, or the time is over.
   *
   * @throws InterruptedException if the thread is interrupted; the question is still open
   */
  void await(Predicate<FanOut<T>> enough, long untilNanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      awaited = enough;
      while (!isOver()) {
        long left = untilNanos - System.nanoTime();
        if (left <= 0) {
          return;
        }
        answered.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isOver() {
    return open() == 0 || awaited.test(this);
  }

  /** As {@link #await}; an interrupt ends nothing, and is kept. */
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
   * Ends the poll: what still comes is given to {@code rest}.
   *
   * @param interrupt whether members that wait are to stop
   * @return for each member its answer; null for one that was not asked, or has not answered
   */
  List<@Nullable Answer<T>> close(boolean interrupt, Late<T> rest) {
    lock.lock();
    try {
      List<@Nullable Answer<T>> soFar = new ArrayList<>(answers); // before anything is changed
      late = rest;
      interrupts = interrupt;
      for (int i = 0; i < asked.length; i++) {
        Thread thread = answering[i];
        if (asked[i] && answers.get(i) == null) {
          members.get(i).unawaited().incrementAndGet();
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

  /** How many have been asked and have not answered. */
  int open() {
    return holdingLock(
        () -> {
          int open = 0;
          for (int i = 0; i < asked.length; i++) {
            open += asked[i] && answers.get(i) == null ? 1 : 0;
          }
          return open;
        });
  }

  /** How many answers are of that kind. */
  int count(Predicate<T> kind) {
    return holdingLock(
        () -> {
          int count = 0;
          for (Answer<T> answer : answers) {
            T value = answer == null ? null : answer.value();
            count += value != null && kind.test(value) ? 1 : 0;
          }
          return count;
        });
  }

  private int holdingLock(IntSupplier question) {
    lock.lock();
    try {
      return question.getAsInt();
    } finally {
      lock.unlock();
    }
  }
}
