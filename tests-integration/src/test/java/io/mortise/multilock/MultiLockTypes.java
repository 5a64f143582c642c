package io.mortise.multilock;

/** The types of the multi-lock that tests look for on stacks. */
public final class MultiLockTypes {
  /** One acquisition of all members. */
  public static final Class<?> ACQUISITION = MultiAcquisition.class;

  private MultiLockTypes() {}
}
