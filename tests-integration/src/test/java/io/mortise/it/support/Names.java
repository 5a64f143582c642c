package io.mortise.it.support;

import java.util.UUID;

/** Lock names that no other test uses. */
public final class Names {
  private Names() {}

  /** Returns a name without a hash tag. */
  public static String fresh() {
    return "it:" + UUID.randomUUID();
  }

  /** Returns a name with its own hash tag. */
  public static String freshWithHashTag() {
    return "it:{" + UUID.randomUUID() + "}:order";
  }
}
