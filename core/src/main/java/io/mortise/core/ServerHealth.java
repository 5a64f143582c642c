package io.mortise.core;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Whether Redis is there, fit for locks, and whether the client's user may use it: the answer to
 * {@link LockClient#ping}.
 *
 * <p>{@code toString()} is a report of several lines for people; its form may change.
 *
 * <p>Not to be implemented by users: later versions may have more methods.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public interface ServerHealth {

  /** How much a finding matters. In ascending order; later versions may have more values. */
  enum Severity {
    /** Nothing to report. No finding has it. */
    OK,
    /** Worth knowing: something that could not be checked, or that cannot do harm alone. */
    INFO,
    /** Locks work, and may be lost or granted twice in a case that the finding names. */
    WARNING,
    /** Locks do not work, or not all of them. */
    ERROR
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
  }

  /**
   * One thing that a user should know about a server.
   *
   * <p>Not to be implemented by users: later versions may have more methods.
   */
  interface Finding {

    /** Returns how much it matters. */
    Severity severity();

    /** Returns a sentence that says what is wrong, or not known. */
    String problem();

    /** Returns a sentence that says what to do. */
    String remedy();

    /** Returns the exception that showed the problem, if there was one. */
    Optional<LockException> cause();
  }
}
