package io.mortise.it.events;

import static io.mortise.it.support.Eventually.untilAsserted;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import io.mortise.core.LockOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that records the events of a client. */
final class EventLog implements LockListener {
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @Override
  public void onEvent(LockEvent event) {
    events.add(event);
  }

  LockOptions.Builder options() {
    return LockOptions.builder().listener(this);
  }

  void clear() {
    events.clear();
  }

  List<LockEvent> all() {
    return List.copyOf(events);
  }

  List<LockEvent> of(LockEvent.Type type) {
    return events.stream().filter(event -> event.type() == type).toList();
  }

  /** Returns the events of one acquisition. */
  List<LockEvent> of(long acquisition) {
    return events.stream().filter(event -> event.acquisition().orElse(0) == acquisition).toList();
  }

  /** Waits until exactly these events have been recorded, and returns them. */
  List<LockEvent> await(LockEvent.Type... types) {
    untilAsserted("the events are there", () -> assertEquals(List.of(types), types(all())));
    return all();
  }

  /** Waits until there are that many events of that type, and returns them. */
  List<LockEvent> await(LockEvent.Type type, int count) {
    untilAsserted(
        count + " events of type " + type,
        () -> assertEquals(count, of(type).size(), () -> "" + all()));
    return of(type);
  }

  static List<LockEvent.Type> types(List<LockEvent> events) {
    return events.stream().map(LockEvent::type).toList();
  }
}
