package io.mortise.connection.pool;

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
 * connection, which ends the write, and the command has timed out.
 *
 * <p><b>Threads.</b> Any thread may call every method. The caller of {@code run} has borrowed the
 * connection. It alone closes it, and only before it gives the connection back. So nothing closes a
 * connection late, under its next borrower.
 */
public final class PlatformThreadOffload implements AutoCloseable {
  private static final @Nullable Method IS_VIRTUAL = isVirtual();

  private final AtomicInteger number = new AtomicInteger();
  private final ExecutorService threads = WorkerPool.cached(this::newThread);

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
  public <T> T run(Connection connection, int bytes, Deadline deadline, Supplier<T> exchange) {
    boolean isLong = bytes > SocketBuffers.MIN_BYTES;
    if (!isLong && !isRequired()) {
      return exchange.get();
    }
    FutureTask<T> task = start(exchange);
    boolean timedOut = isLong && !endsInTime(task, deadline);
    if (timedOut) {
      RedisConnection.disconnect(connection);
    }
    try {
      return resultOf(task);
    } catch (JedisException thrown) {
      throw timedOut ? afterTimeOut(thrown) : thrown;
    }
  }

  private <T> FutureTask<T> start(Supplier<T> exchange) {
    FutureTask<T> task = new FutureTask<>(exchange::get);
    try {
      threads.execute(task);
    } catch (RejectedExecutionException closed) {
      newThread(task).start();
    }
    return task;
  }

  private static boolean endsInTime(FutureTask<?> task, Deadline deadline) {
    try {
      Uninterruptibles.getUninterruptibly(task, deadline.leftNanos(), TimeUnit.NANOSECONDS);
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
      if (e.getCause() instanceof RuntimeException thrown) {
        throw thrown;
      }
      if (e.getCause() instanceof Error thrown) {
        throw thrown;
      }
      throw new IllegalStateException("a command failed in an unknown way", e.getCause());
    }
  }

  /** Returns the failure of an exchange whose connection was closed at the deadline. */
  private static JedisException afterTimeOut(JedisException thrown) {
    JedisConnectionException timeOut =
        new JedisConnectionException(new SocketTimeoutException("Write timed out"));
    if (thrown instanceof UnansweredUndoException undo) {
      return new UnansweredUndoException(undo.whyUndone(), timeOut);
    }
    return thrown instanceof JedisConnectionException ? timeOut : thrown;
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
