package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.connection.pubsub.Subscriptions.Subscription;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one acquisition between its attempts: for a message on its channel, the end of the
 * holder's lease, the end of its own time, or an interrupt. A heartbeat runs during the wait.
 *
 * <p><b>Threads.</b> Confined to the thread that waits; other threads reach it only through the
 * signals that it awaits.
 */
final class AcquireWait implements AutoCloseable {
  /** How long the first subscription may take before another attempt is made without it. */
  private static final long FIRST_CONFIRMATION_NANOS = 100_000_000L;

  private static final long FIRST_POLL_NANOS = 50_000_000L;
  private static final long MAX_POLL_NANOS = 1_000_000_000L;

  private final AcquireContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final LocalHandOff handOff;
  private final @Nullable QueueingProtocol queueing;
  private final boolean hasChannelPerWaiter;
  private final CallerWait wait;

  /** How often this acquisition has polled, because its channel was not confirmed. */
  private int polls;

  private String holder = "";
  private @Nullable Subscription subscription;
  private @Nullable WaiterHeartbeat heartbeat;
  private boolean parked;

  /** Starts the time of the terms. */
  AcquireWait(
      AcquireContext context, LockProtocol protocol, LeaseTerms terms, LocalHandOff handOff) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.handOff = handOff;
    this.queueing = protocol instanceof QueueingProtocol waiting ? waiting : null;
    this.hasChannelPerWaiter = queueing != null && queueing.hasChannelPerWaiter();
    this.wait = new CallerWait(terms, protocol.name().value(), context::nanos);
  }

  /**
   * The state of the channel at one moment: {@link #park} does not miss a later message.
   *
   * @param channel null when there is no subscription yet
   * @param generation of its signal
   * @param confirmed whether the server had confirmed the subscription
   */
  record SignalSnapshot(@Nullable Subscription channel, long generation, boolean confirmed) {
    private static final SignalSnapshot EMPTY = new SignalSnapshot(null, 0, false);
  }

  // ---- the time

  long startNanos() {
    return wait.startNanos();
  }

  long leftNanos() {
    return wait.leftNanos();
  }

  // ---- the channel

  /**
   * Chooses the holder id for the attempts. Uses a channel that lingers from the last contention,
   * or was reserved in advance, from the first attempt on.
   *
   * @param owner the thread that will own the hold, or null
   */
  String begin(@Nullable Thread owner) {
    Subscriptions.ReservedChannel reserved = null;
    if (terms.waitNanos() > 0 && hasChannelPerWaiter) {
      reserved = context.subscriptions().takeReserved(this::channelGroup);
    }
    if (reserved != null) {
      holder = reserved.holder();
      subscription = reserved.subscription();
    } else {
      holder = context.holderIds().next(owner);
      if (terms.waitNanos() > 0 && !hasChannelPerWaiter) {
        subscription = joinSubscribed();
      }
    }
    return holder;
  }

  /** Joins a channel that is subscribed already; returns null when there is none. */
  private @Nullable Subscription joinSubscribed() {
    Subscription own = context.subscriptions().join(protocol.channelWhenQueued(holder));
    return own != null ? own : context.subscriptions().join(protocol.channel(holder));
  }

  /**
   * Returns the name of the group of all channels of this lock and side, if each holder has its
   * own.
   */
  private String channelGroup() {
    return protocol.channel("");
  }

  /** Returns the state for the next {@link #park}; must be called before each attempt. */
  SignalSnapshot snapshot() {
    Subscription channel = subscription;
    return channel == null
        ? SignalSnapshot.EMPTY
        : new SignalSnapshot(channel, channel.signal().generation(), channel.confirmed());
  }

  /**
   * Pauses for a moment after a release that other clients have heard, if this acquisition may
   * wait; see {@link ReleaseFairness}. A message to this client alone ends the pause, one to all
   * does not: it may be that of its own release. Returns whether it paused.
   */
  boolean yieldToOtherClients() throws InterruptedException {
    if (terms.waitNanos() <= 0 || !protocol.allowsHandOff() || leftNanos() <= 0) {
      return false;
    }
    long nanos = context.fairness().pauseNanos(protocol, context.nanos());
    if (nanos <= 0) {
      return false;
    }
    Signal wake = ownSignal();
    long seen = wake.generation();
    if (context.lease().isClosed()) {
      return false;
    }
    await(wake, seen, nanos);
    return true;
  }

  /** Returns the signal of the messages to this client alone, or of the closing. */
  private Signal ownSignal() {
    Subscription channel = subscription;
    return channel != null && channel.channelName().equals(protocol.channelWhenQueued(holder))
        ? channel.signal()
        : context.lease().closing().signal();
  }

  // ---- parked

  /**
   * Waits for a message later than the snapshot, but no longer than the retry time of a result that
   * is no grant. If the result asks for another channel than that of the snapshot, subscribes it
   * and waits for the confirmation: the next attempt finds what was published before.
   */
  void park(SignalSnapshot snapshot, AcquireResult result) throws InterruptedException {
    if (handOff.runs().isOffered()) {
      return;
    }
    long nanos = retryNanos(result);
    Subscription channel = snapshot.channel();
    String wanted = channelAfter(result);
    if (channel == null || !channel.channelName().equals(wanted)) {
      Subscription fresh = subscribe(wanted);
      long generation = fresh.signal().generation();
      if (!fresh.confirmed()) {
        await(fresh.signal(), generation, Math.min(nanos, FIRST_CONFIRMATION_NANOS));
      }
    } else {
      onFirstPark(channel);
      long maxNanos = snapshot.confirmed() ? nanos : Math.min(nanos, pollNanos());
      await(channel.signal(), snapshot.generation(), maxNanos);
    }
  }

  private String channelAfter(AcquireResult result) {
    return result instanceof AcquireResult.Queued queued && !queued.redissonHolds()
        ? protocol.channelWhenQueued(holder)
        : protocol.channel(holder);
  }

  private Subscription subscribe(String name) {
    Subscription previous = subscription;
    Subscription fresh = context.subscriptions().subscribe(name, !hasChannelPerWaiter);
    subscription = fresh;
    if (previous != null) {
      previous.close();
    }
    stopHeartbeat(); // it fires the signal of the previous channel
    onFirstPark(fresh);
    return fresh;
  }

  /**
   * Returns the time after which another attempt is made without a message: at most a lease,
   * because somebody who got the lock after the result may have died.
   */
  private long retryNanos(AcquireResult result) {
    OptionalLong millis =
        result instanceof AcquireResult.Queued queued
            ? queued.retryMillis()
            : ((AcquireResult.Busy) result).retryMillis();
    long atMost = context.options().lease().toMillis();
    return TimeUnit.MILLISECONDS.toNanos(Math.max(1, Math.min(atMost, millis.orElse(atMost))));
  }

  /**
   * Starts the heartbeat, and reserves channels, on the first park on a channel: the wait outlasts
   * one attempt.
   */
  private void onFirstPark(Subscription channel) {
    if (parked) {
      return;
    }
    parked = true;
    if (queueing != null) {
      LeaseContext leases = context.lease();
      heartbeat =
          new WaiterHeartbeat(
              leases.scheduler(),
              leases.batches(),
              leases.ticker(),
              queueing,
              holder,
              channel.signal());
    }
    if (hasChannelPerWaiter) {
      context
          .subscriptions()
          .reserveAhead(channelGroup(), context.holderIds()::ahead, protocol::channel);
    }
  }

  private long pollNanos() {
    return Backoff.pauseNanos(FIRST_POLL_NANOS, MAX_POLL_NANOS, polls++, context.lease().random());
  }

  /** Waits for the signal, at most this time and the rest of the wait; an offer fires it too. */
  void await(Signal signal, long seen, long nanos) throws InterruptedException {
    if (handOff.runs().awaitsOffer(signal)) {
      return;
    }
    context.parked().incrementAndGet();
    try {
      wait.await(nanos, left -> signal.await(seen, left));
    } finally {
      context.parked().decrementAndGet();
    }
  }

  // ---- interrupts

  /**
   * Throws if the thread is interrupted and its wait is interruptible; otherwise remembers the
   * interrupt.
   */
  void checkInterrupt() throws InterruptedException {
    wait.checkInterrupt();
  }

  /** Sets the interrupt status again if an interrupt was remembered. */
  void restoreInterrupt() {
    wait.restoreInterrupt();
  }

  // ---- at the end

  /** Gives back the channel and the heartbeat; {@link #begin} may follow. */
  @Override
  public void close() {
    stopHeartbeat();
    Subscription channel = subscription;
    if (channel != null) {
      channel.close();
      subscription = null;
    }
  }

  private void stopHeartbeat() {
    WaiterHeartbeat sent = heartbeat;
    if (sent != null) {
      sent.close();
      heartbeat = null;
    }
    parked = false;
  }
}
