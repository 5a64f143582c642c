package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.connection.pubsub.Subscriptions.Subscription;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Heartbeat;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How one acquisition waits between its attempts: for a message on its channel, the end of the
 * holder's lease, the end of its own time, or an interrupt; and meanwhile shows that it is there.
 *
 * <p>Confined to the thread that waits; others reach it only through the signals that it awaits.
 */
final class AcquireWait implements AutoCloseable {
  /** How long the first subscription may take before another attempt is made without it. */
  private static final long FIRST_CONFIRMATION_NANOS = 100_000_000L;

  private static final long FIRST_POLL_NANOS = 50_000_000L;
  private static final long MOST_POLL_NANOS = 1_000_000_000L;

  private final AcquireContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final long startNanos;

  /** Between polls, while the channel is not confirmed; null before the first. */
  private @Nullable Backoff unheard;

  private String holder = "";
  private @Nullable Subscription subscription;
  private @Nullable WaiterHeartbeat presence;
  private boolean parked;
  private boolean interrupted;

  /** From now on the time of the terms runs. */
  AcquireWait(AcquireContext context, LockProtocol protocol, LeaseTerms terms) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.startNanos = context.nanos();
  }

  /**
   * What was heard at one moment: a message after it is not missed by {@link #park}.
   *
   * @param channel null when there is no subscription yet
   * @param generation of its signal
   * @param trusted whether the server had confirmed it
   */
  record Heard(@Nullable Subscription channel, long generation, boolean trusted) {
    private static final Heard NOTHING = new Heard(null, 0, false);
  }

  // ---- the time

  long startNanos() {
    return startNanos;
  }

  long leftNanos() {
    return terms.isUnbounded()
        ? LeaseTerms.FOREVER / 2
        : terms.waitNanos() - (context.nanos() - startNanos);
  }

  // ---- the channel

  /**
   * The holder id for the attempts to come. A channel that lingers from the last contention, or was
   * subscribed for those to come, is heard from the first of them on.
   */
  String begin() {
    Subscriptions.ReservedChannel spare = null;
    if (terms.waitNanos() > 0 && protocol.hasChannelPerWaiter()) {
      spare = context.wakeups().takeReserved(this::channels);
    }
    if (spare != null) {
      holder = spare.holder();
      subscription = spare.subscription();
    } else {
      holder = context.holderIds().get();
      if (terms.waitNanos() > 0 && !protocol.hasChannelPerWaiter()) {
        subscription = context.wakeups().join(protocol.channel(holder));
      }
    }
    return holder;
  }

  /** Stands for all channels of this lock and side, where each holder has one. */
  private String channels() {
    return protocol.channel("");
  }

  /** To be called before each attempt, for the {@link #park} after it. */
  Heard snapshot() {
    Subscription channel = subscription;
    return channel == null
        ? Heard.NOTHING
        : new Heard(channel, channel.signal().generation(), channel.confirmed());
  }

  /**
   * After a release that other clients have heard, who waits anyway waits a moment longer; see
   * {@link ReleaseFairness}.
   */
  boolean yieldToOtherClients() throws InterruptedException {
    if (terms.waitNanos() <= 0 || !protocol.allowsTransfer()) {
      return false;
    }
    Signal wake = subscription == null ? context.lease().closing().signal() : subscription.signal();
    boolean polite = false;
    while (leftNanos() > 0 && !context.lease().isClosed()) {
      long seen = wake.generation();
      long nanos = context.courtesy().pauseNanos(protocol, context.nanos());
      if (nanos <= 0) {
        break;
      }
      polite = true;
      await(wake, seen, nanos);
      recordReleases(seen);
    }
    return polite;
  }

  private void recordReleases(long seen) {
    if (subscription != null && protocol.allowsTransfer()) {
      long heard = subscription.signal().generation();
      if (heard != seen) {
        context.courtesy().onReleaseHeard(protocol, heard, context.nanos());
      }
    }
  }

  // ---- parked

  /**
   * Waits for a message that came after {@code heard}, but no longer than that; when there is no
   * channel yet, for its confirmation.
   */
  void park(Heard heard, long retryMillis) throws InterruptedException {
    long nanos =
        retryMillis == AcquireResult.UNKNOWN
            ? context.options().lease().toNanos()
            : TimeUnit.MILLISECONDS.toNanos(Math.max(1, retryMillis));
    Subscription channel = heard.channel();
    if (channel == null) {
      Subscription fresh =
          context.wakeups().subscribe(protocol.channel(holder), !protocol.hasChannelPerWaiter());
      subscription = fresh;
      onFirstPark(fresh);
      long generation = fresh.signal().generation();
      if (!fresh.confirmed()) {
        await(fresh.signal(), generation, Math.min(nanos, FIRST_CONFIRMATION_NANOS));
      }
    } else {
      onFirstPark(channel);
      long most = heard.trusted() ? nanos : Math.min(nanos, pollNanos());
      await(channel.signal(), heard.generation(), most);
      recordReleases(heard.generation());
    }
  }

  /** The first time that it parks, so it waits for longer than one attempt. */
  private void onFirstPark(Subscription channel) {
    if (parked) {
      return;
    }
    parked = true;
    Heartbeat sign = protocol.heartbeat(holder).orElse(null);
    if (sign != null) {
      presence = new WaiterHeartbeat(context.lease(), protocol, holder, sign, channel.signal());
    }
    if (protocol.hasChannelPerWaiter()) {
      context.wakeups().reserveAhead(channels(), context.holderIds(), protocol::channel);
    }
  }

  private long pollNanos() {
    Backoff poll = unheard;
    if (poll == null) {
      poll = new Backoff(FIRST_POLL_NANOS, MOST_POLL_NANOS, context.lease()::random);
      unheard = poll;
    }
    return poll.nextNanos();
  }

  /** Waits for the signal, but no longer than that, and no longer than is left. */
  void await(Signal signal, long seen, long nanos) throws InterruptedException {
    long endNanos = context.nanos() + Math.min(nanos, leftNanos());
    while (true) {
      try {
        signal.await(seen, endNanos - context.nanos());
        return;
      } catch (InterruptedException e) {
        if (terms.interruptible()) {
          throw e;
        }
        interrupted = true;
      }
    }
  }

  // ---- interrupts

  /** Throws when the thread is interrupted and that ends the wait; otherwise remembers it. */
  void checkInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      if (terms.interruptible()) {
        throw new InterruptedException(
            "interrupted while waiting for lock '" + protocol.name() + "'");
      }
      interrupted = true;
    }
  }

  /** At the end: the thread is as interrupted as it would be without all this. */
  void restoreInterrupt() {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- at the end

  @Override
  public void close() {
    WaiterHeartbeat heartbeat = presence;
    if (heartbeat != null) {
      heartbeat.close();
      presence = null;
    }
    Subscription channel = subscription;
    if (channel != null) {
      channel.close();
      subscription = null;
    }
  }
}
