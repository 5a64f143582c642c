package io.mortise.connection.pool;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Warns once, in the log, that a server may evict locks when its memory is full.
 *
 * <p><b>Threads.</b> Any thread may call every method; a compare-and-set decides which one warns.
 */
public final class EvictionPolicyCheck {
  private static final String NO_EVICTION = "noeviction";

  private final String server;
  private final Consumer<String> log;
  private final AtomicBoolean known = new AtomicBoolean();

  public EvictionPolicyCheck(String server, Consumer<String> log) {
    this.server = server;
    this.log = log;
  }

  /** Returns whether the policy is known, or cannot be known, so that no question is needed. */
  public boolean isKnown() {
    return known.get();
  }

  /** Notes that the server does not let this user ask. */
  public void cannotKnow() {
    known.set(true);
  }

  /**
   * Reads the policy from the server's answer, and warns if it may evict locks.
   *
   * @param info the section {@code memory} of INFO
   */
  public void read(ServerInfo info) {
    long limit = info.number("maxmemory").orElse(0);
    String policy = info.field("maxmemory_policy").orElse(NO_EVICTION);
    if (limit > 0 && !policy.equals(NO_EVICTION) && known.compareAndSet(false, true)) {
      log.accept(
          "%s may evict locks while they are held: it has maxmemory %s and maxmemory-policy %s; keep locks on a server with noeviction, apart from what is only cached"
              .formatted(server, limit, policy));
    }
    known.set(true);
  }
}
