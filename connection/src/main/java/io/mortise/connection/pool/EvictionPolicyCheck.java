package io.mortise.connection.pool;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Warns once, in the log, that a server may evict locks when its memory is full.
 *
 * <p><b>Threads.</b> Any thread may call every method; a compare-and-set decides which one warns.
 */
public final class EvictionPolicyCheck {
  private static final String NO_EVICTION = "noeviction";

  /** The remedy for a server that may evict locks. */
  public static final String REMEDY =
      "keep locks on a server with noeviction, apart from what is only cached";

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

  /** Reads the section {@code memory} of INFO, and warns if the server may evict locks. */
  public void read(ServerInfo info) {
    Optional<String> risk = risk(info);
    if (risk.isPresent() && known.compareAndSet(false, true)) {
      log.accept("%s %s; %s".formatted(server, risk.get(), REMEDY));
    }
    known.set(true);
  }

  /** Returns why the server may evict locks, by the same section; empty if it does not say. */
  public static Optional<String> risk(ServerInfo info) {
    long limit = info.number("maxmemory").orElse(0);
    String policy = info.field("maxmemory_policy").orElse(NO_EVICTION);
    return limit == 0 || policy.equals(NO_EVICTION)
        ? Optional.empty()
        : Optional.of(
            "may evict locks while they are held: it has maxmemory %d and maxmemory-policy %s"
                .formatted(limit, policy));
  }
}
