package io.mortise.core;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The holders and waiters of a lock, as Redis reported them at one moment: the result of {@link
 * DistributedLock#inspect}. They may have changed before the caller reads it.
 *
 * <p>It describes the name in Redis, whatever family the lock object belongs to: a plain lock, a
 * fair lock and a read-write lock of one name are one key there.
 *
 * <p><b>Waiters</b> are known if they are in Redis: those of fair locks, and those of Mortise's
 * other locks. Of the threads of one client that wait for the same lock, only the first is listed,
 * except with fair locks. Redisson's waiters for a lock without a queue are not listed, and neither
 * are Mortise's behind a plain lock that Redisson holds: then {@link #waiters} is empty although
 * threads wait.
 *
 * <p>{@code toString()} is a report of several lines for people; its form may change.
 *
 * <p>Not to be implemented by users: later versions may have more methods.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public interface LockInspection {

  /** The way in which a name is held. Later versions may have more values. */
  enum Mode {
    /** Nobody holds it. */
    FREE,
    /** A plain or fair lock is held. */
    EXCLUSIVE,
    /** A read-write lock is held by readers. */
    READ,
    /** A read-write lock is held by a writer; readers beside it belong to its thread. */
    WRITE,
    /** A {@code MultiLock} or {@code RedLock}: its {@link #members} say how each is held. */
    COMPOSITE,
    /** A member that could not be asked, for the reason of {@link #failure}. */
    UNKNOWN
  }

  /** Returns the name of the lock; of a composite lock, the names of its members. */
  String name();

  /** Returns how the lock is held. */
  Mode mode();

  /** Returns whether the lock, or a member of it, is held. */
  boolean isHeld();

  /**
   * Returns the last fencing token that Redis has given out or reserved for this name; empty when
   * none is known. An exclusive holder has this token or a smaller one: its attempt may have
   * reserved tokens for threads to which its client hands the hold.
   */
  OptionalLong lastToken();

  /**
   * Returns the holders, one or several readers; those of a composite lock are in its members. A
   * holder that has released the lock before its {@linkplain DistributedLock#atLeast minimum} was
   * over is among them until then, and {@link Participant#isReleased}.
   */
  List<Participant> holders();

  /**
   * Returns the waiters that are in Redis: first a queue, in its order; then those of a plain lock,
   * as they came; then, of a read-write lock without a queue, the readers whose turn it is, the
   * writers, and the other readers. At most 1,000 of each kind.
   */
  List<Participant> waiters();

  /** Returns the length of the queue of a fair lock, also beyond the waiters that are returned. */
  long queueLength();

  /** Returns the inspections of the members of a {@code MultiLock} or {@code RedLock}. */
  List<LockInspection> members();

  /** Returns why this member could not be asked. */
  Optional<LockException> failure();

  /**
   * Returns false when not all of the lock was read: the client's user may not read all of its
   * keys, so that waiters, or the token, may be missing; or its hash has more than 1,000 fields, as
   * that of an application may have.
   */
  boolean isComplete();

  /**
   * A holder or a waiter. A value that is not known is empty.
   *
   * <p>Not to be implemented by users: later versions may have more methods.
   */
  interface Participant {

    /** The library that a participant uses. Later versions may have more values. */
    enum Library {
      MORTISE,
      REDISSON,
      /** A holder id of no known form. */
      UNKNOWN
    }

    /**
     * The kind of hold that a participant has, or waits for. Later versions may have more values.
     */
    enum Access {
      /** Of a plain or fair lock. */
      EXCLUSIVE,
      READ,
      WRITE
    }

    /** Returns the id in Redis, which contains the client's. */
    String id();

    /** Returns the library, judged by the form of the id. */
    Library library();

    /** Returns how it holds the lock, or wants to. */
    Access access();

    /**
     * Returns the id of its client: {@link LockClient#id()} of Mortise, and the {@code id} of a
     * client of Redisson.
     */
    Optional<String> clientId();

    /** Returns whether the client that was asked is its client. */
    boolean isThisClient();

    /**
     * Returns the host of its process. This and the process id are known of this client, and of a
     * client of Mortise that has written its record: about ten seconds after its first use of a
     * lock, if its user has the right to do so.
     */
    Optional<String> host();

    /** Returns the process id on its host; in a container usually that inside the container. */
    OptionalLong processId();

    /** Returns when its client was made, by the clock of its host. */
    Optional<Instant> clientStartedAt();

    /** Returns the version of Java that its process runs on. */
    Optional<String> javaVersion();

    /** Returns the version of Mortise in its process. */
    Optional<String> mortiseVersion();

    /**
     * Returns the id of the thread in its process ({@code Thread.getId}); of a handle, that of the
     * thread that asked for it. A hold that threads of one client hand to each other, or share, has
     * the thread that asked first; of this client's own holds it is the present owner. Unknown for
     * some waiters of a fair lock in high demand, whose ids are made ahead.
     */
    OptionalLong threadId();

    /** Returns the name of the thread, if it owns a hold of this client. */
    Optional<String> threadName();

    /**
     * Returns when it asked for the lock, by the clock of its own host; unknown where the thread
     * is, and for Redisson.
     */
    Optional<Instant> askedAt();

    /**
     * Returns when its client acquired the lock, by Redis' clock: known of an exclusive holder of
     * Mortise, to about a millisecond. Threads of that client may have handed the hold to each
     * other since.
     */
    Optional<Instant> acquiredAt();

    /**
     * Returns how often it holds the lock, as counted in Redis. Redisson counts re-entries there,
     * Mortise in the client: then it is 1. 0 for a waiter.
     */
    int holdCount();

    /**
     * Returns the remaining lease of a holder by Redis' clock; {@link LockOptions#MAX_LEASE}
     * without an end. Of a waiter, for how long it keeps its place without another heartbeat: zero
     * when the next attempt will remove it, as a waiter that died.
     */
    Duration remaining();

    /**
     * Returns whether a holder has released the lock, which stays busy until its {@linkplain
     * DistributedLock#atLeast minimum} is over. False for a waiter.
     */
    boolean isReleased();
  }
}
