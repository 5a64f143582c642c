package io.mortise.redlock;

/** The types of the quorum lock that tests look for on stacks. */
public final class RedLockTypes {
  /** Where a thread waits for the replies of the nodes. */
  public static final Class<?> FAN_OUT = FanOut.class;

  /** Where a missing node is reacquired. */
  public static final Class<?> REACQUISITION = NodeReacquisition.class;

  private RedLockTypes() {}
}
