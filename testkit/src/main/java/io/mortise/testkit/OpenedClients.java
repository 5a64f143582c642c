package io.mortise.testkit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The clients that a server in memory has opened, and closes.
 *
 * <p><b>Threads.</b> Any thread may call every method; the monitor of the list guards it, and no
 * client is closed in it.
 */
final class OpenedClients implements AutoCloseable {
  /** The latest first. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  <T extends AutoCloseable> T register(T client) {
    synchronized (opened) {
      opened.push(client);
    }
    return client;
  }

  private @Nullable AutoCloseable poll() {
    synchronized (opened) {
      return opened.poll();
    }
  }

  /**
   * Closes the clients, the latest first.
   *
   * @throws IllegalStateException if a client could not be closed; the others are
   */
  @Override
  public void close() {
    closeAll(this::poll);
  }

  /**
   * Closes all that the supplier gives, until it gives nothing.
   *
   * @throws IllegalStateException if one of them could not be closed; the others are
   */
  static void closeAll(Supplier<? extends @Nullable AutoCloseable> all) {
    IllegalStateException failure = null;
    for (AutoCloseable next = all.get(); next != null; next = all.get()) {
      try {
        next.close();
      } catch (Exception e) {
        IllegalStateException failed = new IllegalStateException(next + " could not be closed", e);
        if (failure == null) {
          failure = failed;
        } else {
          failure.addSuppressed(failed);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
