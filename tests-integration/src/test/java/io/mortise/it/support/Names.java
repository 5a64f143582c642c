package io.mortise.it.support;

import java.util.UUID;

/** Lock names that no other test uses. */
public final class Names {
  private Names() {}

  /** A name without a hash tag. */
  public static String fresh() {
    return "it:" + UUID.randomUUID();
  }

  /** A name with a hash tag of its own. */
  public static String freshWithHashTag() {
    return "it:{" + UUID.randomUUID() + "}:order";
  }
}
