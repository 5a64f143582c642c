package io.mortise.core;

import org.jspecify.annotations.Nullable;

/**
 * Redis could not be used, or answered with an error. The message names the lock, the fact and what
 * can be done; the cause is the client's own exception.
 */
public final class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of fault it is. */
  public enum Reason {
    /** No connection, or it broke or timed out. May pass. */
    UNREACHABLE(true),
    /** The server is not ready: loading its data, busy with a script, failing over. May pass. */
    NOT_READY(true),
    /** The server is a replica and takes no writes. May pass, with a failover. */
    READ_ONLY(true),
    /** The server has no memory left and may not evict. May pass. */
    OUT_OF_MEMORY(true),
    /**
     * Too few replicas have acknowledged an acquisition, see {@link LockOptions#acknowledgement};
     * it was undone. May pass.
     */
    NOT_REPLICATED(true),
    /** All connections of the pool were in use. May pass. */
    POOL_EXHAUSTED(true),
    /** The server refused user, password, or the right to a command or key. */
    ACCESS_DENIED(false),
    /** The server's certificate is not trusted, or is for another host. */
    CERTIFICATE_REJECTED(false),
    /**
     * The server is not what the client was made for: no node of a cluster, or one of several; it
     * has no database of that number; the sentinels watch no master of that name.
     */
    MISCONFIGURED(false),
    /** The name is in use as another kind of lock, or as a key that is no lock. */
    WRONG_TYPE(false),
    /** The server has no such command as the options want. */
    NOT_SUPPORTED(false),
    /** The server refused a script or its arguments. */
    SCRIPT(false),
    /**
     * A release had to be repeated and found nothing, at a server that may have lost its data
     * meanwhile: the hold was released by the first try, or was lost before, and then somebody else
     * may have had the lock. Nothing is left to release there.
     */
    IN_DOUBT(false),
    /** The client was closed. */
    CLIENT_CLOSED(false);

    private final boolean passing;

    Reason(boolean passing) {
      this.passing = passing;
    }

    /** Whether it is worth trying again: a wait goes on over such faults. */
    public boolean isTransient() {
      return passing;
    }
  }

  private final Reason reason;

  /** Made by the locks; public for those who write a lock family of their own. */
  public LockException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** What kind of fault it is. */
  public Reason reason() {
    return reason;
  }
}
