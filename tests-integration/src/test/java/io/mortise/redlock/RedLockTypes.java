package io.mortise.redlock;

/** The types of the quorum lock that tests look for on stacks. */
public final class RedLockTypes {
  /** The type in which a thread waits for the replies of the nodes. */
  public static final Class<?> FAN_OUT = FanOut.class;

  /** The type that reacquires a missing node. */
  public static final Class<?> REACQUISITION = NodeReacquisition.class;

  private RedLockTypes() {}
}
