package io.mortise.connection.pool;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.SocketTimeoutException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Platform threads that run the commands of virtual threads, and the long commands of all threads.
 * There are at most as many of them as connections.
 *
 * <p><b>Virtual threads.</b> An interrupt of a virtual thread closes the socket that the thread
 * reads from; an interrupt of a platform thread does not. A command would then have no answer
 * although Redis is well: the client would not know whether the lock was granted, and every
 * cancelled task would cost a connection. So a virtual thread, once it has a connection, leaves the
 * command to a platform thread, and waits uninterruptibly.
 *
 * <p><b>Long commands.</b> A write has no time limit. If the server is suspended, and the command
 * exceeds the {@linkplain SocketBuffers buffers} of the sockets, the write blocks. So a thread of
 * this class writes, and the caller waits for it until the deadline. Then the caller closes the
 * connection, which ends the write, and the command has timed out. One compare-and-set decides
 * whether the thread begins, or the deadline comes first and nothing is sent.
 *
 * <p><b>A connection of Jedis</b> whose socket was closed before a command connects again, without
 * its greeting: as nobody, to database 0. That needs a thread that begins, and is suspended before
 * it writes until the deadline has passed. So the caller closes the connection again and again
 * until the thread has ended, and believes no answer that comes after the first time. A {@link
 * RedisConnection} never connects twice.
 *
 * <p><b>Threads.</b> Any thread may call every method. The caller of {@code run} has borrowed the
 * connection. It alone closes it, and only before it gives the connection back. So nothing closes a
 * connection late, under its next borrower.
 */
final class PlatformThreadOffload implements AutoCloseable {
  private static final @Nullable Method IS_VIRTUAL = isVirtual();
  private static final long CLOSE_AGAIN_NANOS = 100_000_000L;

  private final AtomicInteger number = new AtomicInteger();
  private final ExecutorService threads;

  PlatformThreadOffload() {
    this.threads = WorkerPool.cached(this::newThread);
  }

  PlatformThreadOffload(ExecutorService threads) {
    this.threads = threads;
  }

  private Thread newThread(Runnable task) {
    return WorkerPool.daemonThread(task, "mortise-command-" + number.incrementAndGet());
  }

  /** Returns whether the current thread must not use a socket itself. */
  private static boolean isRequired() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException("Thread.isVirtual() cannot be called", e);
    }
  }

  /**
   * Runs an exchange on a connection of the caller and waits for its end; throws what the exchange
   * throws. A long one ends soon after the deadline: then the connection is closed. An interrupt
   * does not end the wait; the interrupt status is restored afterwards.
   *
   * @param bytes see {@link Exchange#bytes}
   */
  <T> T run(Connection connection, int bytes, Deadline deadline, Supplier<T> exchange) {
    boolean isLong = bytes > SocketBuffers.MIN_BYTES;
    if (!isLong && !isRequired()) {
      return exchange.get();
    }
    if (isLong && deadline.hasPassed()) {
      throw timeOut();
    }
    FutureTask<T> task = new FutureTask<>(exchange::get);
    AtomicBoolean decided = new AtomicBoolean(); // whether it runs
    start(
        () -> {
          if (decided.compareAndSet(false, true)) {
            task.run();
          }
        });
    return isLong ? endOfLong(task, decided, connection, deadline) : resultOf(task);
  }

  private static <T> T endOfLong(
      FutureTask<T> task, AtomicBoolean decided, Connection connection, Deadline deadline) {
    boolean over = false; // nothing is sent any more
    try {
      if (endsWithin(task, deadline.leftNanos())) {
        over = true;
        return resultOf(task);
      }
      if (decided.compareAndSet(false, true)) {
        over = true;
        throw timeOut();
      }
      do {
        RedisConnection.disconnect(connection);
      } while (!endsWithin(task, CLOSE_AGAIN_NANOS));
      over = true;
      RedisConnection.disconnect(connection); // it may have connected again
      return resultAfterClose(task, connection instanceof RedisConnection);
    } finally {
      if (!over) { // an error came; a thread that has not begun will not
        decided.set(true);
        RedisConnection.disconnect(connection);
      }
    }
  }

  private void start(Runnable task) {
    try {
      threads.execute(task);
    } catch (RejectedExecutionException closed) {
      newThread(task).start();
    }
  }

  private static boolean endsWithin(FutureTask<?> task, long nanos) {
    try {
      Uninterruptibles.getUninterruptibly(task, nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return false;
    } catch (ExecutionException failed) {
      // The failure is thrown by resultOf.
    }
    return true;
  }

  @SuppressWarnings("NullAway") // the result is null only if that of the exchange is
  private static <T> T resultOf(FutureTask<T> task) {
    try {
      return Uninterruptibles.getUninterruptibly(task);
    } catch (ExecutionException e) {
      Throwables.throwIfUnchecked(e.getCause());
      throw new IllegalStateException("a command failed in an unknown way", e.getCause());
    }
  }

  /** Returns or throws what the exchange did; another server may have answered it. */
  private static <T> T resultAfterClose(FutureTask<T> task, boolean sameServer) {
    try {
      T result = resultOf(task);
      if (sameServer) {
        return result;
      }
    } catch (UnansweredUndoException undo) {
      throw new UnansweredUndoException(undo.whyUndone(), timeOut());
    } catch (JedisConnectionException closed) {
      throw timeOut();
    } catch (JedisException refused) {
      if (sameServer) {
        throw refused;
      }
    }
    throw timeOut();
  }

  private static JedisConnectionException timeOut() {
    return new JedisConnectionException(new SocketTimeoutException("Write timed out"));
  }

  private static @Nullable Method isVirtual() {
    try {
      return Thread.class.getMethod("isVirtual");
    } catch (NoSuchMethodException before21) {
      return null;
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
