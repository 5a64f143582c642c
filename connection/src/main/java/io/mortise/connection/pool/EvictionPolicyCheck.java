package io.mortise.connection.pool;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Says once, in the log, that a server may throw away locks when its memory is full. */
public final class EvictionPolicyCheck {
  private static final Pattern LIMIT = Pattern.compile("(?m)^maxmemory:(\\d+)");
  private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(\\S+)");
  private static final String HARMLESS = "noeviction";

  private final String server;
  private final Consumer<String> log;
  private final AtomicBoolean known = new AtomicBoolean();

  public EvictionPolicyCheck(String server, Consumer<String> log) {
    this.server = server;
    this.log = log;
  }

  /** Whether there is no need to ask, any more. */
  public boolean isKnown() {
    return known.get();
  }

  /** The server does not let this user ask. */
  public void cannotKnow() {
    known.set(true);
  }

  /**
   * Hears what the server says.
   *
   * @param info the section {@code memory} of INFO
   */
  public void hear(String info) {
    Matcher limit = LIMIT.matcher(info);
    Matcher policy = POLICY.matcher(info);
    if (limit.find()
        && policy.find()
        && !limit.group(1).matches("0+")
        && !policy.group(1).equals(HARMLESS)
        && known.compareAndSet(false, true)) {
      log.accept(
          "%s may evict locks while they are held: it has maxmemory %s and maxmemory-policy %s; keep locks on a server with noeviction, apart from what is only cached"
              .formatted(server, limit.group(1), policy.group(1)));
    }
    known.set(true);
  }
}
