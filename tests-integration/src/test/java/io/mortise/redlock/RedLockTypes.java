package io.mortise.redlock;

/** The types of the quorum lock that tests look for on stacks. */
public final class RedLockTypes {
  /** Where a thread waits for the answers of the nodes. */
  public static final Class<?> POLL = FanOut.class;

  /** Where a node that is missed is asked again. */
  public static final Class<?> RETAKING = NodeReacquisition.class;

  private RedLockTypes() {}
}
