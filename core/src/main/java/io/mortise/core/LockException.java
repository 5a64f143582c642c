package io.mortise.core;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when Redis cannot be used, or answers with an error. The message names the lock, the fact
 * and the remedy; the cause is the exception of the Redis client.
 */
public final class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of faults. Later versions may have more kinds. */
  public enum Reason {
    /** There is no connection, or it broke or timed out. Transient. */
    UNREACHABLE(true),
    /** The server is not ready: loading its data, busy with a script, failing over. Transient. */
    NOT_READY(true),
    /** The server is a replica and takes no writes. Transient: a failover may end it. */
    READ_ONLY(true),
    /** The server has no memory left and may not evict. Transient. */
    OUT_OF_MEMORY(true),
    /**
     * Too few replicas have acknowledged an acquisition, see {@link LockOptions#acknowledgement};
     * it was undone, or the undo had no answer and is repeated. Transient.
     */
    NOT_REPLICATED(true),
    /** All connections of the pool were in use. Transient. */
    POOL_EXHAUSTED(true),
    /** The server refused user, password, or the right to a command or key. */
    ACCESS_DENIED(false),
    /** The server's certificate is not trusted, or is for another host. */
    CERTIFICATE_REJECTED(false),
    /**
     * The server does not match the configuration of the client: it is not a node of a cluster, or
     * is one of several; it has no database of that number; the sentinels watch no master of that
     * name, or are none.
     */
    MISCONFIGURED(false),
    /** The name is in use as another kind of lock, or as a key that is no lock. */
    WRONG_TYPE(false),
    /** The server does not support a command that the options require. */
    NOT_SUPPORTED(false),
    /** The server refused a script or its arguments. */
    SCRIPT(false),
    /**
     * A release had to be repeated and found no hold, at a server that may have lost its data in
     * between. Either the first attempt released the hold, or it was lost before, and then another
     * owner may have held the lock. Or too few members of a hold of a majority have confirmed that
     * they held it. The lock is free as far as this hold is concerned.
     */
    IN_DOUBT(false),
    /** The client was closed. */
    CLIENT_CLOSED(false);

    private final boolean isTransient;

    Reason(boolean isTransient) {
      this.isTransient = isTransient;
    }

    /** Returns whether another attempt may succeed: a wait goes on after such a fault. */
    public boolean isTransient() {
      return isTransient;
    }
  }

  private final Reason reason;
  private final @Nullable String remedy;

  /**
   * Creates the exception; public for implementations of other lock families.
   *
   * @param message names the lock, the fact, and the remedy unless that follows from the fact
   */
  public LockException(Reason reason, String message, @Nullable Throwable cause) {
    this(reason, message, null, cause);
  }

  /**
   * Creates the exception; public for implementations of other lock families.
   *
   * @param fact names the lock and the fact
   * @param remedy what to do about it, which follows the fact in the message, behind a semicolon
   */
  public LockException(
      Reason reason, String fact, @Nullable String remedy, @Nullable Throwable cause) {
    super(remedy == null ? fact : fact + "; " + remedy, cause);
    this.reason = Objects.requireNonNull(reason, "reason");
    this.remedy = remedy;
  }

  /** Returns the kind of the fault. */
  public Reason reason() {
    return reason;
  }

  /**
   * Returns what to do about the fault, which is also the end of the message; empty if the message
   * says it in another place, or the remedy follows from the fact.
   */
  public Optional<String> remedy() {
    return Optional.ofNullable(remedy);
  }
}
