package io.mortise.connection.pool;

import io.mortise.connection.concurrent.WorkerPool;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of a host. The system looks them up without a time limit: so a thread of its own
 * does that, at most one at a time, and each caller waits for it until its own deadline.
 *
 * <p><b>Threads.</b> Any may ask. Whoever finds no question under way begins one, by one
 * compare-and-set; it is over before its answer is given, so that the next caller asks anew.
 */
final class HostAddresses {
  /** What is an address itself. */
  private static final Pattern LITERAL = Pattern.compile("[0-9.]+|\\[?[0-9A-Fa-f]*:[^/]*");

  /** Asks the system; tests have another one. */
  @FunctionalInterface
  interface Resolver {
    InetAddress[] lookUp(String host) throws UnknownHostException;
  }

  private final String host;
  private final Resolver resolver;
  private final AtomicReference<@Nullable CompletableFuture<List<InetAddress>>> underWay =
      new AtomicReference<>();

  HostAddresses(String host, Resolver resolver) {
    this.host = host;
    this.resolver = resolver;
  }

  /** All addresses. */
  List<InetAddress> until(long deadlineNanos) throws IOException {
    if (LITERAL.matcher(host).matches()) {
      return List.of(resolver.lookUp(host));
    }
    try {
      long left = deadlineNanos - System.nanoTime();
      return answer().get(Math.max(0, left), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new SocketTimeoutException("the look-up of " + host + " takes too long");
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

  private CompletableFuture<List<InetAddress>> answer() {
    while (true) {
      CompletableFuture<List<InetAddress>> present = underWay.get();
      if (present != null) {
        return present;
      }
      CompletableFuture<List<InetAddress>> mine = new CompletableFuture<>();
      if (underWay.compareAndSet(null, mine)) {
        begin(mine);
        return mine;
      }
    }
  }

  private void begin(CompletableFuture<List<InetAddress>> answer) {
    boolean begun = false;
    try {
      Thread thread = WorkerPool.thread(() -> lookUp(answer), "mortise-look-up-" + host);
      thread.setContextClassLoader(HostAddresses.class.getClassLoader());
      thread.setDaemon(true);
      thread.start();
      begun = true;
    } catch (OutOfMemoryError noThread) {
      answer.completeExceptionally(noThread);
    } finally {
      if (!begun) {
        underWay.compareAndSet(answer, null);
      }
    }
  }

  private void lookUp(CompletableFuture<List<InetAddress>> answer) {
    try {
      List<InetAddress> found = List.of(resolver.lookUp(host));
      underWay.compareAndSet(answer, null);
      answer.complete(found);
    } catch (Throwable e) { // whoever waits has to hear of an error too
      underWay.compareAndSet(answer, null);
      answer.completeExceptionally(e);
    }
  }
}
