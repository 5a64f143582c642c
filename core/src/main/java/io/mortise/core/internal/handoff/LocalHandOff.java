package io.mortise.core.internal.handoff;

import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of one client leave to each other without asking Redis: a hold that passes on to
 * the next in line, or one that they share.
 *
 * <p>Confined to the thread that acquires; see {@link TransferableHold} and {@link SharedHold} for
 * what orders those who give and those who take.
 */
public final class LocalHandOff {
  private final LeaseContext context;
  private final SharedHolds sharedHolds;
  private final LeaseSource source;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final QueueTicket place;
  private final boolean shares;

  public LocalHandOff(
      LeaseContext context,
      SharedHolds sharedHolds,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner,
      QueueTicket place) {
    this.context = context;
    this.sharedHolds = sharedHolds;
    this.source = source;
    this.protocol = protocol;
    this.terms = terms;
    this.owner = owner;
    this.place = place;
    this.shares = sharedHolds.mayShare(protocol, terms);
  }

  /** Whether who asks Redis stands in line, because those behind get something from it. */
  public boolean standInLine() {
    return shares || protocol.usesLocalQueue();
  }

  /** Whose the hold in Redis will be: nobody's, when it is shared. */
  public @Nullable Thread owner() {
    return shares ? null : owner;
  }

  /**
   * As many tokens as threads may have the hold, if any stand behind this one; but not many more
   * than the line has used lately, because tokens that nobody gets are lost.
   */
  public int tokens() {
    return protocol.allowsTransfer()
            && terms.renewed()
            && !context.options().maxHandOffTime().isZero()
            && place.hasSuccessors()
        ? Math.min(context.options().maxHandOffs(), place.expectedPasses()) + 1
        : 1;
  }

  /**
   * What others have left, ready for use; null when Redis has to be asked.
   *
   * @param withinNanos how long it may take to give up what is of no use
   */
  public @Nullable OwnedLease takeOffered(long withinNanos) {
    if (shares) {
      return joinShared();
    }
    OwnedLease lease = takeOver();
    if (lease == null) {
      place.releaseOfferedHold(withinNanos);
    }
    return lease;
  }

  /** Opens a hold that Redis has granted, and that is registered, to those behind. */
  public OwnedLease publish(RedisLease lease, int tokens) {
    boolean given = false;
    try {
      if (shares) {
        SharedLease first = sharedHolds.begin(LeaseContext.idOf(protocol), source, lease, owner);
        given = true; // from here on its last user releases it
        return open(first);
      }
      lease.end().reserveTokens(tokens);
      place.transferTo(lease);
      given = true;
      return lease;
    } finally {
      if (!given) {
        lease.end().drop();
      }
    }
  }

  private @Nullable OwnedLease joinShared() {
    SharedLease part = sharedHolds.join(LeaseContext.idOf(protocol), source, terms, owner);
    return part == null ? null : open(part);
  }

  /** Those behind join next. An error on the way leaves no part behind that nobody has. */
  private OwnedLease open(SharedLease part) {
    boolean opened = false;
    try {
      place.release();
      part.watched();
      opened = true;
      return part;
    } finally {
      if (!opened) {
        part.drop();
      }
    }
  }

  /** Whether a hold that passes on is what is asked for. */
  public boolean accepts(TransferableHold tenure) {
    return tenure.satisfies(terms, context.nanos()) && tenure.epoch() == context.holds().epoch();
  }

  /** The hold that the one before in the line has left; null when there is none that suits. */
  private @Nullable OwnedLease takeOver() {
    TransferableHold tenure = place.offeredHold();
    if (tenure == null || !accepts(tenure)) {
      return null;
    }
    RedisLease lease = new RedisLease(context, protocol, tenure, owner, terms);
    if (!context.holds().register(lease, tenure.epoch())) {
      return null; // the tenure still lies in its place
    }
    boolean given = false;
    try {
      place.recordAttempt(null);
      place.transferTo(lease);
      given = true;
    } finally {
      if (!given) {
        lease.end().drop();
      }
    }
    return lease;
  }
}
