package io.mortise.cli.worker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.HoldLog.Mode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class JsonLinesTest {
  private static final Job JOB =
      new Job(
          "crash",
          "victim",
          "redis://:pä\"ss@h:1/2",
          List.of("redis://h:2", "redis://h:3"),
          "lock",
          10,
          4,
          30,
          2000);

  static List<WorkerEvent> events() {
    return List.of(
        new WorkerEvent.Ready(Long.MAX_VALUE),
        new WorkerEvent.Prepared(),
        new WorkerEvent.Asking(2),
        new WorkerEvent.Entered(3, 1L << 52, -5, 7),
        new WorkerEvent.Held(3, Mode.SHARED, 0, 1, 2, 3, true),
        new WorkerEvent.Kept(1, Accounts.Account.B, 4, 5),
        new WorkerEvent.Noted(0, EventType.REFUSED, 9, 10, "a \"line\"\nand another"),
        new WorkerEvent.Finished(),
        new WorkerEvent.Failed("ß"),
        new WorkerEvent.Logged(""));
  }

  static List<WorkerRequest> requests() {
    return List.of(
        new WorkerRequest.Prepare(JOB),
        new WorkerRequest.Go(),
        new WorkerRequest.Call(3),
        new WorkerRequest.Proceed(),
        new WorkerRequest.Close());
  }

  @ParameterizedTest
  @MethodSource("events")
  void anEventArrivesAsItWasSentInOneLine(WorkerEvent event) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new JsonLines.Writer(out).write(event);
    String text = out.toString(UTF_8);
    assertEquals(text.length() - 1, text.indexOf('\n'));
    assertEquals(event, JsonLines.event(text));
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aRequestArrivesAsItWasSentInOneLine(WorkerRequest request) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new JsonLines.Writer(out).write(request);
    String text = out.toString(UTF_8);
    assertEquals(text.length() - 1, text.indexOf('\n'));
    assertEquals(request, JsonLines.request(text));
  }

  @Test
  void aLineThatIsNoMessageIsShown() {
    Exception e = assertThrows(UncheckedIOException.class, () -> JsonLines.event("Killed"));
    assertTrue(e.getMessage().endsWith("Killed"), e.getMessage());
  }

  @Test
  void customersAreSpreadOverTheThreadsAndNoneIsLost() {
    int[] each = {JOB.customersOf(0), JOB.customersOf(1), JOB.customersOf(2), JOB.customersOf(3)};
    assertEquals(List.of(8, 8, 7, 7), List.of(each[0], each[1], each[2], each[3]));
  }
}
