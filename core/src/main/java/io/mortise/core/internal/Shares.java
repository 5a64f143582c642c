package io.mortise.core.internal;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.Terms;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The holds of this client that several threads may share: one hold in Redis for all of them. Each
 * name has at most one that others may still join; those before it go on until the last of their
 * users has left.
 */
final class Shares {
  private final Engine engine;
  private final Map<String, Share> open = new ConcurrentHashMap<>();

  Shares(Engine engine) {
    this.engine = engine;
  }

  /** Whether a hold by these terms may be shared. */
  boolean mayShare(LockProtocol protocol, Terms terms) {
    return terms.renewed()
        && protocol.sharesHolds()
        && engine.options().handOvers() > 0
        && !engine.options().handOverTime().isZero();
  }

  /** Joins the hold that another thread has; null when there is none to be joined. */
  @Nullable SharedHold join(EngineSource source, Terms terms, @Nullable Thread owner) {
    Share share = open.get(source.id());
    return share == null ? null : share.join(source, terms, owner);
  }

  /** Lets others join a hold that was just acquired, instead of the one before. */
  SharedHold begin(EngineSource source, LeaseHandle base, @Nullable Thread owner) {
    Share share = new Share(engine, source.id(), base);
    SharedHold first = share.begin(source, owner);
    base.renewal().heldFor(share);
    open.put(source.id(), share);
    return first;
  }

  /** Nobody may join it any more. */
  void ended(String id, Share share) {
    open.remove(id, share);
  }
}
