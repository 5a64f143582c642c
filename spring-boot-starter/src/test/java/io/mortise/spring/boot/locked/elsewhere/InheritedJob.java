package io.mortise.spring.boot.locked.elsewhere;

import io.mortise.spring.boot.Locked;

/** A superclass in another package than its beans, whose proxies do not see {@code run}. */
public class InheritedJob {
  @Locked(name = "a")
  void run() {}

  /** A subclass that opens the method: a proxy in another package overrides this one. */
  public static class Opened extends InheritedJob {
    @Override
    public void run() {}
  }

  /** A superclass whose method a proxy in another package overrides. */
  public static class Protected {
    @Locked(name = "a")
    protected void run() {}
  }
}
