package io.mortise.core.internal;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of one client leave to each other without asking Redis: a hold that passes on to
 * the next in line, or one that they share.
 *
 * <p>Confined to the thread that acquires; see {@link Tenure} and {@link Share} for what orders
 * those who give and those who take.
 */
final class Neighbours {
  private final EngineSource source;
  private final Engine engine;
  private final LockProtocol protocol;
  private final Terms terms;
  private final @Nullable Thread owner;
  private final Place place;
  private final boolean shares;

  Neighbours(
      EngineSource source,
      LockProtocol protocol,
      Terms terms,
      @Nullable Thread owner,
      Place place) {
    this.source = source;
    this.engine = source.engine();
    this.protocol = protocol;
    this.terms = terms;
    this.owner = owner;
    this.place = place;
    this.shares = engine.shares().mayShare(protocol, terms);
  }

  /** Whether who asks Redis stands in line, because those behind get something from it. */
  boolean standInLine() {
    return shares || protocol.waitsInLine();
  }

  /** Whose the hold in Redis will be: nobody's, when it is shared. */
  @Nullable Thread owner() {
    return shares ? null : owner;
  }

  /** As many tokens as threads may have the hold, if any stand behind this one. */
  int tokens() {
    return protocol.passesOn() && terms.renewed() && place.isAwaited()
        ? engine.options().handOvers() + 1
        : 1;
  }

  /** What others have left, ready for use; null when Redis has to be asked. */
  @Nullable OwnedLease left() {
    if (shares) {
      return join();
    }
    OwnedLease lease = takeOver();
    if (lease == null) {
      place.releaseTenure();
    }
    return lease;
  }

  /** The same, if that takes no word to Redis. What is of no use still lies in its place then. */
  @Nullable OwnedLease leftAtOnce() {
    return shares ? null : takeOver();
  }

  /** A hold that Redis has granted, registered, and open to those behind. */
  OwnedLease hold(LeaseHandle lease, int tokens) {
    if (shares) {
      engine.register(lease);
      SharedHold first = engine.shares().begin(source, lease, owner);
      place.leave(); // those behind join
      return first.watched();
    }
    lease.end().reserve(tokens);
    place.handOver(lease);
    engine.register(lease);
    return lease;
  }

  private @Nullable OwnedLease join() {
    SharedHold part = engine.shares().join(source, terms, owner);
    if (part == null) {
      return null;
    }
    place.leave();
    return part.watched();
  }

  /** Whether a hold that passes on is what is asked for. */
  boolean suits(Tenure tenure) {
    return tenure.suits(terms, engine.nanos()) && tenure.epoch() == engine.epoch();
  }

  /** The hold that the one before in the line has left; null when there is none that suits. */
  private @Nullable OwnedLease takeOver() {
    Tenure tenure = place.tenure();
    if (tenure == null || !suits(tenure)) {
      return null;
    }
    LeaseHandle lease = LeaseHandle.continuing(engine, protocol, tenure, owner, terms);
    place.attempted(null);
    place.handOver(lease);
    engine.register(lease);
    if (tenure.epoch() != engine.epoch()) {
      lease.verify(); // whoever looked at the holds in between may not have seen this one
    }
    return lease;
  }
}
