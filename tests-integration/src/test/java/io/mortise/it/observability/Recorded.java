package io.mortise.it.observability;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** A recording of Flight Recorder, and the events of one lock in it. */
final class Recorded implements AutoCloseable {
  static final String WAIT = "io.mortise.LockWait";
  static final String HOLD = "io.mortise.LockHold";
  static final String LOST = "io.mortise.LeaseLost";

  private final Recording recording = new Recording();
  private final String lockName;

  Recorded(String lockName) {
    this.lockName = lockName;
  }

  Recorded enable(String event, Duration threshold) {
    recording.enable(event).withThreshold(threshold);
    return this;
  }

  Recorded enable(String event) {
    recording.enable(event);
    return this;
  }

  /** Turns an event off, which a recording has unless it says otherwise. */
  Recorded disable(String event) {
    recording.disable(event);
    return this;
  }

  Recorded start() {
    recording.start();
    return this;
  }

  /** Returns the events of the lock so far. */
  List<RecordedEvent> events(String name) throws IOException {
    Path file = Files.createTempFile("mortise", ".jfr");
    try {
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream()
          .filter(event -> event.getEventType().getName().equals(name))
          .filter(event -> lockName.equals(event.getString("lockName")))
          .sorted(Comparator.comparing(RecordedEvent::getStartTime))
          .toList();
    } finally {
      Files.delete(file);
    }
  }

  @Override
  public void close() {
    recording.close();
  }
}
