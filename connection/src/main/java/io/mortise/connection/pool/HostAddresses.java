package io.mortise.connection.pool;

import com.google.common.net.InetAddresses;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of a host. The system looks them up without a time limit. So a separate thread does
 * the look-up, at most one at a time, and each caller waits for it until its own deadline.
 *
 * <p><b>Threads.</b> Any thread may call {@code until}. A caller that finds no look-up under way
 * begins one, by one compare-and-set. A look-up is marked as over before its answer is given, so
 * that the next caller begins another one. The mark needs neither stack nor memory: no caller joins
 * a look-up that an error has ended.
 */
final class HostAddresses {
  /** Looks up a host in the system; tests have their own. */
  @FunctionalInterface
  interface Resolver {
    InetAddress[] lookUp(String host) throws UnknownHostException;
  }

  private final String host;
  private final Resolver resolver;
  private final ThreadFactory threads;
  private final AtomicReference<@Nullable LookUp> lastLookUp = new AtomicReference<>();

  /** The time is over, and the server has not been asked yet. */
  static final class SlowLookUpException extends SocketTimeoutException {
    private static final long serialVersionUID = 1L;

    SlowLookUpException(String message) {
      super(message);
    }
  }

  /** One look-up, and its answer. */
  private static final class LookUp extends CompletableFuture<List<InetAddress>> {
    volatile boolean over;
  }

  HostAddresses(String host, Resolver resolver) {
    this(host, resolver, task -> WorkerPool.daemonThread(task, "mortise-look-up-" + host));
  }

  HostAddresses(String host, Resolver resolver, ThreadFactory threads) {
    this.host = host;
    this.resolver = resolver;
    this.threads = threads;
  }

  /** Returns all addresses; waits until the deadline. */
  List<InetAddress> until(Deadline deadline) throws IOException {
    if (InetAddresses.isInetAddress(host) || InetAddresses.isUriInetAddress(host)) {
      return List.of(resolver.lookUp(host));
    }
    try {
      long left = deadline.leftNanos();
      return joinOrBeginLookUp().get(Math.max(0, left), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new SlowLookUpException(
          "the look-up of "
              + host
              + " takes too long; look at the name service of this machine, or raise"
              + " LockOptions.commandTimeout or the wait");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted in the look-up of " + host);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownHostException) {
        throw new UnknownHostException(host);
      }
      throw new IOException("the look-up of " + host + " failed", e.getCause());
    }
  }

  private LookUp joinOrBeginLookUp() {
    while (true) {
      LookUp last = lastLookUp.get();
      if (last != null && !last.over) {
        return last;
      }
      LookUp own = new LookUp();
      if (lastLookUp.compareAndSet(last, own)) {
        startThread(own);
        return own;
      }
    }
  }

  private void startThread(LookUp own) {
    try {
      threads.newThread(() -> lookUp(own)).start();
    } catch (Throwable noThread) { // the callers that have joined need an error too
      own.over = true;
      own.completeExceptionally(noThread);
    }
  }

  private void lookUp(LookUp own) {
    try {
      List<InetAddress> found = List.of(resolver.lookUp(host));
      own.over = true;
      own.complete(found);
    } catch (Throwable e) { // the waiting callers need an error too
      own.over = true;
      own.completeExceptionally(e);
    }
  }
}
