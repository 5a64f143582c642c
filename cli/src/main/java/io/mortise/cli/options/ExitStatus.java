package io.mortise.cli.options;

/**
 * The exit status of the commands.
 *
 * <p>{@code mortise run} ends with the status of its command. Its own failures take the numbers
 * from 122 on, as {@code timeout}, {@code env} and {@code docker run} do, because commands rarely
 * use them. The other commands run nothing, and take small numbers.
 */
public final class ExitStatus {
  public static final int OK = 0;

  /**
   * The answer is no: a chapter of the demo does not hold, a lock is not held, Redis is not fit.
   */
  public static final int NO = 1;

  /** The options are wrong. */
  public static final int USAGE = 2;

  /** Redis cannot be used, or Mortise failed, so there is no answer. */
  public static final int COULD_NOT_RUN = 3;

  /**
   * {@code doctor}: locks work, and may be lost or granted twice in a case that is named; {@code
   * force}: the lock was taken on some of several servers only; {@code inspect}: only a part of a
   * cluster was searched.
   */
  public static final int WARNING = 4;

  /**
   * {@code run}: Redis cannot be used, or the lock was lost before the command was started, which
   * did not run.
   */
  public static final int RUN_REDIS = 122;

  /** {@code run}: another owner held the lock for the whole wait; the command did not run. */
  public static final int RUN_CONFLICT = 123;

  /** {@code run}: the lock was lost while the command ran, which was ended; or it may have been. */
  public static final int RUN_LOST = 124;

  /** {@code run}: the options are wrong, or Mortise failed. */
  public static final int RUN_FAILED = 125;

  /** {@code run}: the command cannot be executed, as in a shell. */
  public static final int RUN_NOT_EXECUTABLE = 126;

  /** {@code run}: there is no such command, as in a shell. */
  public static final int RUN_NOT_FOUND = 127;

  /** {@code run}: a signal ended the command, if its number is added; as in a shell. */
  public static final int RUN_SIGNAL = 128;

  private ExitStatus() {}
}
