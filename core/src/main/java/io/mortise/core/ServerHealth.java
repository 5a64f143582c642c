package io.mortise.core;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A report on the servers of a client: whether they answer, are fit for locks, and allow the
 * client's user what locks need. The result of {@link LockClient#ping}.
 *
 * <p>{@code toString()} is a report of several lines for people; its form may change.
 *
 * <p>Not to be implemented by users: later versions may have more methods.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public interface ServerHealth {

  /** The weight of a finding, in ascending order. Later versions may have more values. */
  enum Severity {
    /** There is nothing to report. No finding has it. */
    OK,
    /** A check could not be made, or the fact cannot do harm alone. */
    INFO,
    /** Locks work, and may be lost or granted twice in a case that the finding names. */
    WARNING,
    /** Locks do not work, or not all of them. */
    ERROR
  }

  /** The checks of a server, in the order of a report. Later versions may have more values. */
  enum Check {
    /** Whether the server answers, and accepts user, password and certificate. */
    CONNECTION,
    /** Whether its version is supported. */
    VERSION,
    /** Whether it is a master. */
    ROLE,
    /** Whether the commands of a lock succeed: the user's rights, memory, writes. */
    COMMANDS,
    /** Whether it takes subscriptions, and of a cluster whether its channels have slots. */
    MESSAGES,
    /** Whether it may evict locks while they are held. */
    EVICTION,
    /** Whether it has the locks after a restart. */
    PERSISTENCE,
    /** Whether a replica that takes its place has the locks. */
    REPLICATION,
    /** How long a command takes. */
    ROUND_TRIP,
    /** Whether its clock agrees with those of this process and of the other servers. */
    CLOCK
  }

  /** Returns the highest severity of all findings; {@link Severity#OK} without any. */
  Severity severity();

  /** Returns whether every server has answered. */
  boolean isReachable();

  /**
   * Returns the servers that were asked: the only one, the master that the sentinels name, or the
   * masters of a cluster.
   */
  List<Server> servers();

  /**
   * One server.
   *
   * <p>Not to be implemented by users: later versions may have more methods.
   */
  interface Server {

    /** Returns host and port, or the sentinels and the name of their master. */
    String address();

    /** Returns whether it has answered; a refusal is an answer. */
    boolean isReachable();

    /** Returns the version that the server reports, such as {@code 7.4.2}. */
    Optional<String> version();

    /** Returns the role that the server reports: {@code master} or {@code slave}. */
    Optional<String> role();

    /** Returns how long a PING took on a connection that was open. */
    Optional<Duration> roundTrip();

    /** Returns the server's clock less that of this process, to about the round trip. */
    Optional<Duration> clockOffset();

    /** Returns what was found, the worst first; empty when all is well. */
    List<Finding> findings();

    /**
     * Returns what was seen in each check, such as {@code appendonly yes}: a few words for people,
     * whose form may change. A check that could not be made is missing.
     */
    Map<Check, String> facts();
  }

  /**
   * One problem of a server, or one check that could not be made.
   *
   * <p>Not to be implemented by users: later versions may have more methods.
   */
  interface Finding {

    /** Returns the check that found it. */
    Check check();

    /** Returns how much it matters. */
    Severity severity();

    /** Returns a sentence that names the problem, or the check that could not be made. */
    String problem();

    /** Returns a sentence with the remedy. */
    String remedy();

    /** Returns the exception that showed the problem, if there was one. */
    Optional<LockException> cause();
  }
}
