package io.mortise.core.internal;

import io.mortise.core.spi.Attempt;
import io.mortise.core.spi.InFlight;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An acquisition that does not wait for the lock, and whose one attempt is sent before anybody
 * waits for the answer; otherwise as in {@link Acquisition}.
 *
 * <p>Used by one thread at a time: by the one that begins it, and then by whoever ends it. It has
 * to be ended: it has a place in line, a connection, and perhaps the lock.
 */
final class AcquireAhead implements InFlight<Optional<OwnedLease>> {
  private final Engine engine;
  private final LockProtocol protocol;
  private final Place place;
  private final Neighbours neighbours;
  private final Patience patience;
  private final Attempts attempts;

  /** Whether there is anything to ask. */
  private boolean asks;

  private @Nullable OwnedLease lease;

  private AcquireAhead(
      EngineSource source, LockProtocol protocol, Terms terms, @Nullable Thread owner) {
    this.engine = source.engine();
    this.protocol = protocol;
    this.place = new Place(engine, protocol);
    this.neighbours = new Neighbours(source, protocol, terms, owner, place);
    this.patience = new Patience(engine);
    this.attempts =
        new Attempts(engine, protocol, terms, place, neighbours, patience, engine.nextHolder());
  }

  /** Begins one. */
  static AcquireAhead begin(
      EngineSource source, LockProtocol protocol, Terms terms, @Nullable Thread owner) {
    AcquireAhead started = new AcquireAhead(source, protocol, terms.waiting(0), owner);
    started.engine.underway().begin();
    boolean begun = false;
    try {
      started.begin();
      begun = true;
    } finally {
      if (!begun) {
        started.leave();
      }
    }
    return started;
  }

  private void begin() {
    engine.ensureOpen(protocol.name());
    asks = !neighbours.standInLine() || place.enterIfFree() || !place.isHeldHere();
    lease = neighbours.leftAtOnce();
    // What has to be given back first takes a round trip, which is for whoever waits.
    if (lease == null && asks && place.tenure() == null) {
      attempts.send();
    }
  }

  @Override
  public boolean isSent() {
    return lease != null || !asks || attempts.isSent();
  }

  @Override
  public boolean hasArrived() {
    return lease != null || !asks || attempts.hasArrived();
  }

  @Override
  public Optional<OwnedLease> await() {
    try {
      if (lease == null && asks) {
        lease = attempts.isSent() ? null : neighbours.left();
        if (lease == null) {
          lease = answer(attempts.receive());
        }
      }
      return Optional.ofNullable(lease);
    } finally {
      leave();
    }
  }

  private @Nullable OwnedLease answer(@Nullable Attempt attempt) {
    OwnedLease hold = attempt instanceof Attempt.Acquired acquired ? attempts.hold(acquired) : null;
    Fault fault = patience.last();
    if (hold == null && fault != null) {
      throw fault.forCaller(protocol.name());
    }
    return hold;
  }

  private void leave() {
    try {
      if (lease == null) {
        attempts.giveUp();
      }
    } finally {
      try {
        if (lease == null) {
          place.leave();
        }
      } finally {
        engine.underway().end();
      }
    }
  }
}
