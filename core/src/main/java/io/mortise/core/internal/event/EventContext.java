package io.mortise.core.internal.event;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockEvent;
import io.mortise.core.LockException;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The services that all events of one client need.
 *
 * @param clientId the id of the client
 * @param ticker the clock of all durations
 * @param wallClock the clock of the moments
 * @param toLockException converts a fault into the exception that users know
 * @param acquisitions counts the acquisitions
 * @param queue takes the events for the listeners; null if nobody listens
 */
public record EventContext(
    String clientId,
    Ticker ticker,
    InstantSource wallClock,
    Function<CommandException, LockException> toLockException,
    AtomicLong acquisitions,
    @Nullable EventQueue queue) {

  /** Returns whether an acquisition that begins now is of interest to anybody. */
  public boolean isObserved() {
    return queue != null || FlightRecording.isOn();
  }

  /** Counts an event that an error has prevented. */
  void recordDrop() {
    if (queue != null) {
      queue.recordDrop();
    }
  }

  long nanos() {
    return ticker.read();
  }

  LockEvent.Builder event(LockEvent.Type type) {
    return LockEvent.builder(type, clientId, wallClock.instant());
  }
}
