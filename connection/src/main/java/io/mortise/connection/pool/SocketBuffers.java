package io.mortise.connection.pool;

/**
 * What the buffers of two sockets take at once, even if the server is suspended and reads nothing.
 * A socket has no time limit for a write: one that exceeds the buffers blocks until the server goes
 * on. So commands that go together are no longer than this, and a single one that is longer has a
 * thread of its own, see {@link PlatformThreadOffload}.
 *
 * <p><b>Threads.</b> Stateless.
 */
public final class SocketBuffers {
  /**
   * A fourth of what a receiver takes by default, so that there is also room for the framing, and
   * for the text of a script that the server does not know.
   */
  public static final int MIN_BYTES = 16 * 1024;

  private SocketBuffers() {}
}
