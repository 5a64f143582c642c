package io.mortise.core.internal.event;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockEvent;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports one acquisition, and the hold that it gets: to the listeners of the client, and to Flight
 * Recorder while that records.
 *
 * <p>No method waits, and none throws when memory is exhausted: an event that cannot be made counts
 * as dropped.
 *
 * <p><b>Threads.</b> The acquiring thread calls {@link #notAcquired} or {@link #acquired}, before
 * it lets any other thread report the hold. After that any thread may call the others. The end is
 * reported once.
 */
public final class AcquisitionEvents {
  private final EventContext context;
  private final String lockKind;
  private final String lockName;

  /** The number of the acquisition; 0 for a hold that several acquisitions share. */
  private final long number;

  private final String threadName;
  private final long threadId;
  private final long requestedNanos;

  /** Null when Flight Recorder recorded nothing at the request. */
  private final @Nullable AcquisitionRecording recording;

  private final Consumer<@Nullable LeaseLoss> onEnd = this::ended;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** The renewal that is due and has not been confirmed; null if none. */
  private final AtomicReference<@Nullable Renewal> renewal = new AtomicReference<>();

  private volatile long acquiredNanos;
  private volatile @Nullable OwnedLease hold;
  private volatile boolean local;

  /** A renewal that was due at that moment, with the first of the requests that failed. */
  private record Renewal(long dueNanos, @Nullable CommandException fault) {}

  private AcquisitionEvents(
      EventContext context,
      String lockKind,
      String lockName,
      long number,
      String threadName,
      long threadId) {
    this.context = context;
    this.lockKind = lockKind;
    this.lockName = lockName;
    this.number = number;
    this.threadName = threadName;
    this.threadId = threadId;
    this.requestedNanos = context.nanos();
    this.recording = number > 0 ? FlightRecording.begin(lockKind, lockName, threadName) : null;
  }

  /** Reports that a thread asks for a lock; returns null without memory for what follows. */
  @SuppressWarnings("deprecation") // Thread.threadId() is of JDK 19
  public static @Nullable AcquisitionEvents requested(
      EventContext context, String lockKind, String lockName, Thread caller) {
    try {
      AcquisitionEvents events =
          new AcquisitionEvents(
              context,
              lockKind,
              lockName,
              context.acquisitions().incrementAndGet(),
              caller.getName(),
              caller.getId());
      events.put(LockEvent.Type.REQUESTED, -1, null, null);
      return events;
    } catch (Throwable noMemory) {
      context.recordDrop();
      return null;
    }
  }

  /** Returns the events of the hold that this acquisition shares with others; null as above. */
  public @Nullable AcquisitionEvents ofSharedHold() {
    try {
      AcquisitionEvents shared = new AcquisitionEvents(context, lockKind, lockName, 0, "", 0);
      shared.hold = hold;
      return shared;
    } catch (Throwable noMemory) {
      context.recordDrop();
      return null;
    }
  }

  private void emit(
      LockEvent.Type type, long nanos, @Nullable LeaseLoss loss, @Nullable CommandException fault) {
    try {
      put(type, nanos, loss, fault == null ? null : context.toLockException().apply(fault));
    } catch (Throwable noMemory) { // or no stack
      context.recordDrop();
    }
  }

  /**
   * @param nanos the duration; none if negative
   */
  private void put(
      LockEvent.Type type, long nanos, @Nullable LeaseLoss loss, @Nullable Throwable cause) {
    EventQueue queue = context.queue();
    if (queue == null) {
      return;
    }
    LockEvent.Builder event = context.event(type).cause(cause).local(local);
    event.lock(lockKind, lockName);
    if (number > 0) {
      event.acquisition(number, threadName, threadId);
    }
    if (nanos >= 0) {
      event.duration(Duration.ofNanos(nanos));
    }
    OwnedLease granted = hold;
    if (granted != null) {
      event.fencingToken(granted.fencingToken());
    }
    if (loss != null) {
      event.loss(loss);
    }
    queue.put(event.build());
  }

  private static long since(long nanos, long now) {
    return Math.max(0, now - nanos);
  }

  // ---- the acquisition

  /** Reports the end without the lock: what was thrown, or null if others had it all the time. */
  public void notAcquired(@Nullable Throwable thrown) {
    try {
      if (recording != null) {
        recording.notAcquired(thrown);
      }
      put(LockEvent.Type.NOT_ACQUIRED, since(requestedNanos, context.nanos()), null, thrown);
    } catch (Throwable noMemory) {
      context.recordDrop();
    }
  }

  /** Reports that the lock was granted, by Redis or by another thread of this client. */
  public void acquired(OwnedLease granted, boolean shared) {
    long now = context.nanos();
    hold = granted;
    local = shared;
    acquiredNanos = now;
    recordAcquired(granted, shared);
    emit(LockEvent.Type.ACQUIRED, since(requestedNanos, now), null, null);
  }

  // ---- the hold

  /** Reports that the hold goes to the next thread of this client. */
  public void handedOver() {
    emit(LockEvent.Type.HANDED_OFF, since(acquiredNanos, context.nanos()), null, null);
  }

  /** Returns the action that reports the end, with the loss if the hold was lost. */
  public Consumer<@Nullable LeaseLoss> onEnd() {
    return onEnd;
  }

  private void ended(@Nullable LeaseLoss loss) {
    if (ended.compareAndSet(false, true)) {
      long endNanos = loss == null ? context.nanos() : loss.atNanos();
      recordEnd(loss);
      LockEvent.Type type = loss == null ? LockEvent.Type.RELEASED : LockEvent.Type.LOST;
      emit(type, since(acquiredNanos, endNanos), loss, null);
    }
  }

  // ---- Flight Recorder, which needs memory too

  private void recordAcquired(OwnedLease granted, boolean shared) {
    try {
      if (recording != null) {
        recording.acquired(granted.fencingToken(), shared);
      }
    } catch (Throwable noMemory) {
      context.recordDrop();
    }
  }

  private void recordEnd(@Nullable LeaseLoss loss) {
    try {
      if (recording != null) {
        recording.ended(loss);
      }
    } catch (Throwable noMemory) {
      context.recordDrop();
    }
  }

  // ---- its renewal

  /** Notes that a renewal is sent that was due at that moment. */
  public void renewalSent(long dueNanos) {
    note(dueNanos, null);
  }

  public void renewalFailed(CommandException fault) {
    note(context.nanos(), fault);
  }

  /** The first moment counts, and the first fault. */
  private void note(long nanos, @Nullable CommandException fault) {
    try {
      renewal.updateAndGet(
          known ->
              known == null
                  ? new Renewal(nanos, fault)
                  : known.fault() != null ? known : new Renewal(known.dueNanos(), fault));
    } catch (Throwable noMemory) {
      context.recordDrop();
    }
  }

  /** Reports that a renewal was late, if it was by more than that, or had failed before. */
  public void renewed(long toleratedNanos) {
    Renewal confirmed = renewal.getAndSet(null);
    if (confirmed == null || ended.get()) {
      return;
    }
    long lateNanos = since(confirmed.dueNanos(), context.nanos());
    if (confirmed.fault() != null || lateNanos > toleratedNanos) {
      emit(LockEvent.Type.RENEWED_LATE, lateNanos, null, confirmed.fault());
    }
  }
}
