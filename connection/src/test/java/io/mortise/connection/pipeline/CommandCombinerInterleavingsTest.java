package io.mortise.connection.pipeline;

import static io.mortise.connection.pipeline.RecordingTransport.AN_HOUR;
import static io.mortise.connection.testing.Interleavings.check;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every command is sent once and answered, and none waits while no batch is under way. */
@Tag("interleavings")
class CommandCombinerInterleavingsTest {
  private static final int SCHEDULES = 500;

  @Test
  void aCommandThatComesAsABatchEndsIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR);
          assertEquals(2, transport.sent.get());
        });
  }

  @Test
  void withOneBatchAtATimeEveryCommandIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void withTwoBatchesAtATimeEveryCommandIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(2);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void aCommandThatABatchWithLittleTimeLeavesIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR / 100, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void everyLateCommandIsSentOnOneConnection() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = RecordingTransport.late(1);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void everyLateCommandIsSentOnTwoConnections() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = RecordingTransport.late(2);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }
}
