package io.mortise.core;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An event of an acquisition, of its hold, or of a server, of which a {@link LockListener} is
 * notified.
 *
 * <p><b>An acquisition</b> is one call that asks Redis, or another thread of the client, for the
 * lock. It has a number, by which its events belong together. {@link Type#REQUESTED} is followed by
 * one of {@link Type#ACQUIRED} and {@link Type#NOT_ACQUIRED}, and {@code ACQUIRED} by one of {@link
 * Type#RELEASED} and {@link Type#LOST}. A re-entry is no acquisition, and has no events; nor has a
 * {@code tryLock()} of a thread that would wait for itself.
 *
 * <p><b>Locks made of locks.</b> A {@code MultiLock} and a {@code RedLock} report nothing
 * themselves. The client of each member reports the acquisitions of that member, also those that
 * fail or are given back before all members, or a majority, are held.
 *
 * <p><b>Readers that share one hold in Redis</b> each have events of their own. A late renewal of
 * that hold is reported once, and belongs to no acquisition.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it. It refers to no lock and to no thread, and
 * may be kept.
 */
public final class LockEvent {

  /**
   * The type of an event. Later versions may have more types: a {@code switch} needs a {@code
   * default}.
   */
  public enum Type {
    /** A thread asks for a lock that it does not hold. */
    REQUESTED,

    /**
     * The lock was granted. {@link #duration()} is the time since it was requested, {@link
     * #fencingToken()} the token, and {@link #isLocal()} says whether another thread of this client
     * has given or shared its hold.
     */
    ACQUIRED,

    /**
     * The acquisition ended without the lock. Without a {@link #cause()} another owner had it all
     * the time, or all segments of a {@code SegmentedLock} are exhausted. Otherwise the cause is
     * the exception that the caller got: a {@link LockException}, an {@code InterruptedException},
     * or an error. {@link #duration()} is the time since it was requested.
     */
    NOT_ACQUIRED,

    /**
     * A renewal was confirmed late: by more than a third of the lease after it was due, or after
     * requests that failed; {@link #cause()} is then the first failure. {@link #duration()} is the
     * time since it was due. The hold was valid all the time. Lateness of a hold that ends before
     * the confirmation is not reported.
     */
    RENEWED_LATE,

    /**
     * The thread that releases gives the hold to the next thread of this client that waits for it,
     * without a command. {@code RELEASED} follows. If the waiter has given up at that moment, the
     * hold is released in Redis. {@link #duration()} is how long it was held.
     */
    HANDED_OFF,

    /**
     * The owner gave the hold up. {@link #duration()} is how long it was held. Redis may not have
     * confirmed it: the caller then got a {@link LockException}, and the release is repeated in the
     * background.
     */
    RELEASED,

    /**
     * The hold was lost; {@link #loss()} says why and when. {@link #at()} is that moment, which may
     * be earlier than that of events before, and {@link #duration()} how long the hold was valid.
     */
    LOST,

    /**
     * A command got no reply from a {@link #server()}: there was no connection, or it broke, or the
     * time was over. {@link #cause()} has the failure. Reported once, until the server answers
     * again. No {@link #REACHABLE} follows for a node that leaves the cluster's slot map while it
     * is unreachable.
     */
    UNREACHABLE,

    /**
     * A {@link #server()} that was unreachable has answered a command, if only with an error.
     * {@link #duration()} is the time since it was reported.
     */
    REACHABLE
  }

  private final Type type;
  private final String clientId;
  private final Instant at;
  private final @Nullable String lockName;
  private final @Nullable String lockKind;
  private final long acquisition;
  private final @Nullable String threadName;
  private final long threadId;
  private final @Nullable Duration duration;
  private final @Nullable Long fencingToken;
  private final boolean local;
  private final @Nullable LeaseLoss loss;
  private final @Nullable String server;
  private final @Nullable Throwable cause;

  private LockEvent(Builder builder) {
    this.type = builder.type;
    this.clientId = builder.clientId;
    this.at = builder.at;
    this.lockName = builder.lockName;
    this.lockKind = builder.lockKind;
    this.acquisition = builder.acquisition;
    this.threadName = builder.threadName;
    this.threadId = builder.threadId;
    this.duration = builder.duration;
    this.fencingToken = builder.fencingToken;
    this.local = builder.local;
    this.loss = builder.loss;
    this.server = builder.server;
    this.cause = builder.cause;
  }

  /**
   * Returns a builder, for the tests of a listener.
   *
   * @param at when it happened
   */
  public static Builder builder(Type type, String clientId, Instant at) {
    return new Builder(type, clientId, at);
  }

  /** Returns what happened. */
  public Type type() {
    return type;
  }

  /** Returns the {@link LockClient#id()} of the client. */
  public String clientId() {
    return clientId;
  }

  /** Returns when it happened, by the wall clock of this process. */
  public Instant at() {
    return at;
  }

  /** Returns the name of the lock in Redis; empty for an event of a server. */
  public Optional<String> lockName() {
    return Optional.ofNullable(lockName);
  }

  /**
   * Returns the family of the lock, one of few words such as {@code lock}, {@code fair lock} or
   * {@code read lock}; empty for an event of a server.
   */
  public Optional<String> lockKind() {
    return Optional.ofNullable(lockKind);
  }

  /**
   * Returns the number of the acquisition, from 1, which all of its events have and no others of
   * this client; empty for an event of a server, or of a hold that readers share.
   */
  public OptionalLong acquisition() {
    return acquisition == 0 ? OptionalLong.empty() : OptionalLong.of(acquisition);
  }

  /**
   * Returns the name of the thread that asked for the lock, in all events of an acquisition. That
   * is the caller of an asynchronous acquisition, and the owner of a {@code RedLock}; for a handle
   * of a {@code RedLock} it is a thread of a client. Virtual threads often have an empty name.
   * Empty for an event of a server, or of a hold that readers share.
   */
  public Optional<String> threadName() {
    return Optional.ofNullable(threadName);
  }

  /** Returns the id of that thread. */
  public OptionalLong threadId() {
    return threadName == null ? OptionalLong.empty() : OptionalLong.of(threadId);
  }

  /** Returns a duration by the monotonic clock, at least zero; {@link #type()} says which. */
  public Optional<Duration> duration() {
    return Optional.ofNullable(duration);
  }

  /** Returns the fencing token of the hold; empty while there is none. */
  public OptionalLong fencingToken() {
    return fencingToken == null ? OptionalLong.empty() : OptionalLong.of(fencingToken);
  }

  /**
   * Returns whether the hold came from another thread of this client, handed off or shared, without
   * a command; in all events of such a hold.
   */
  public boolean isLocal() {
    return local;
  }

  /** Returns the loss, with {@link Type#LOST}. */
  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(loss);
  }

  /** Returns the server, as messages name it, with the events of a server. */
  public Optional<String> server() {
    return Optional.ofNullable(server);
  }

  /** Returns the cause, where the {@link #type()} names one. */
  public Optional<Throwable> cause() {
    return Optional.ofNullable(cause);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(type.toString());
    append(text, " ", lockKind);
    append(text, " '", lockName == null ? null : lockName + "'");
    append(text, " ", server);
    append(text, ", acquisition ", acquisition == 0 ? null : acquisition);
    append(text, " of thread ", threadName == null ? null : "'" + threadName + "'");
    append(text, ", token ", fencingToken);
    append(text, ", ", duration);
    append(text, ", ", local ? "local" : null);
    append(text, ": ", loss == null ? null : loss.reason());
    append(text, ": ", cause);
    return text.toString();
  }

  private static void append(StringBuilder text, String before, @Nullable Object value) {
    if (value != null) {
      text.append(before).append(value);
    }
  }

  /**
   * Builds an event.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private final Type type;
    private final String clientId;
    private Instant at;
    private @Nullable String lockName;
    private @Nullable String lockKind;
    private long acquisition;
    private @Nullable String threadName;
    private long threadId;
    private @Nullable Duration duration;
    private @Nullable Long fencingToken;
    private boolean local;
    private @Nullable LeaseLoss loss;
    private @Nullable String server;
    private @Nullable Throwable cause;

    private Builder(Type type, String clientId, Instant at) {
      this.type = Objects.requireNonNull(type, "type");
      this.clientId = Objects.requireNonNull(clientId, "clientId");
      this.at = Objects.requireNonNull(at, "at");
    }

    /** See {@link LockEvent#lockKind()} and {@link LockEvent#lockName()}. */
    public Builder lock(String kind, String name) {
      this.lockKind = Objects.requireNonNull(kind, "kind");
      this.lockName = Objects.requireNonNull(name, "name");
      return this;
    }

    /** See {@link LockEvent#acquisition()}, from 1, and the thread that asked. */
    public Builder acquisition(long number, String nameOfThread, long idOfThread) {
      this.acquisition = number;
      this.threadName = Objects.requireNonNull(nameOfThread, "nameOfThread");
      this.threadId = idOfThread;
      return this;
    }

    /** See {@link LockEvent#duration()}; a negative one counts as zero. */
    public Builder duration(Duration duration) {
      Objects.requireNonNull(duration, "duration");
      this.duration = duration.isNegative() ? Duration.ZERO : duration;
      return this;
    }

    /** See {@link LockEvent#fencingToken()}. */
    public Builder fencingToken(long token) {
      this.fencingToken = token;
      return this;
    }

    /** See {@link LockEvent#isLocal()}. */
    public Builder local(boolean local) {
      this.local = local;
      return this;
    }

    /** See {@link LockEvent#loss()}; the event has happened at the moment of the loss. */
    public Builder loss(LeaseLoss loss) {
      this.loss = Objects.requireNonNull(loss, "loss");
      this.at = loss.at();
      return this;
    }

    /** See {@link LockEvent#server()}. */
    public Builder server(String server) {
      this.server = Objects.requireNonNull(server, "server");
      return this;
    }

    /** See {@link LockEvent#cause()}. */
    public Builder cause(@Nullable Throwable cause) {
      this.cause = cause;
      return this;
    }

    /** Returns the event. */
    public LockEvent build() {
      return new LockEvent(this);
    }
  }
}
