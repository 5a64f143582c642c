package io.mortise.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as its user starts it: a process with processes of its own. */
class DemoTest {

  @TempDir private Path directory;

  private record Ended(int status, String out, String err) {}

  private Ended demo(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "io.mortise.cli.Main",
                "demo"));
    command.addAll(List.of(arguments));
    File out = directory.resolve("out").toFile();
    File err = directory.resolve("err").toFile();
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(out)
            .redirectError(err)
            .start();
    try {
      assertTrue(process.waitFor(180, TimeUnit.SECONDS), () -> "still running: " + read(err));
      return new Ended(process.exitValue(), read(out), read(err));
    } finally {
      process.destroy();
    }
  }

  private static String read(File file) {
    try {
      return Files.readString(file.toPath(), UTF_8);
    } catch (java.io.IOException e) {
      return e.toString();
    }
  }

  @Test
  void quickDemoHoldsInEveryChapter() throws Exception {
    Ended ended = demo("--quick", "--json");
    assertEquals(0, ended.status(), () -> ended.out() + ended.err());
    JsonNode json = new ObjectMapper().readTree(ended.out()); // nothing but JSON
    assertTrue(json.get("ok").booleanValue());
    assertEquals(
        List.of(
            "without-lock",
            "redis-lock",
            "crash",
            "pause",
            "fairness",
            "catalogue",
            "transfers",
            "segments",
            "redlock"),
        json.get("chapters").findValuesAsText("name"));

    JsonNode without = json.at("/chapters/0/figures");
    assertTrue(without.get("oversold").intValue() > 0);

    JsonNode with = json.at("/chapters/1/figures");
    assertEquals(with.get("stock").intValue(), with.get("sold").intValue());
    assertEquals(0, with.get("left").intValue());
    assertEquals(0, with.get("overlaps").intValue());
    assertEquals(0, with.get("tokensOutOfOrder").intValue());

    JsonNode crash = json.at("/chapters/2/figures");
    assertTrue(crash.get("nextInAfterMillis").doubleValue() > 0);
    assertEquals(0, crash.get("lostUpdates").intValue());

    JsonNode pause = json.at("/chapters/3/figures");
    assertEquals(1, pause.get("refusedWrites").intValue());
    assertTrue(pause.get("toldAfterMillis").doubleValue() >= 0);
    assertTrue(pause.get("pausedToken").longValue() < pause.get("nextToken").longValue());

    JsonNode fairness = json.at("/chapters/4/figures");
    assertEquals(0, fairness.get("fairLockOvertakenInLine").intValue());
    assertTrue(fairness.get("fairLockInLine").intValue() >= 8);
    assertEquals(0, fairness.get("fairLockOverlaps").intValue());
    assertEquals(0, fairness.get("redisLockOverlaps").intValue());
    assertTrue(fairness.get("redisLockLongestWaitMillis").doubleValue() > 0);
    assertTrue(
        fairness.get("fairLockMedianWaitMillis").doubleValue()
            <= fairness.get("fairLockLongestWaitMillis").doubleValue());

    JsonNode catalogue = json.at("/chapters/5/figures");
    assertEquals(0, catalogue.get("tornReads").intValue());
    assertEquals(0, catalogue.get("lostWrites").intValue());
    assertEquals(0, catalogue.get("overlaps").intValue());
    assertTrue(catalogue.get("mostReaders").intValue() > 1);
    assertTrue(catalogue.get("longestWriterWaitMillis").doubleValue() > 0);

    JsonNode transfers = json.at("/chapters/6/figures");
    assertTrue(transfers.get("multiLockTransfers").intValue() > 0);
    assertEquals(0, transfers.get("multiLockGaveUp").intValue());
    assertEquals(transfers.get("totalBefore").intValue(), transfers.get("totalAfter").intValue());
    assertEquals(0, transfers.get("overlaps").intValue());

    JsonNode segments = json.at("/chapters/7/figures");
    for (String lock : List.of("redisLock", "segmentedLock")) {
      assertEquals(500, segments.get(lock + "Sold").intValue());
      assertEquals(0, segments.get(lock + "SoldTwice").intValue());
      assertEquals(0, segments.get(lock + "Left").intValue());
      assertEquals(0, segments.get(lock + "Overlaps").intValue());
      assertTrue(segments.get(lock + "SalesPerSecond").intValue() > 0);
    }
    assertEquals(1, segments.get("redisLockMostInside").intValue());
    assertTrue(segments.get("segmentedLockMostInside").intValue() > 1);

    JsonNode redlock = json.at("/chapters/8/figures");
    assertTrue(redlock.get("with5Turns").intValue() > 0);
    assertTrue(redlock.get("with3Turns").intValue() > 0);
    assertTrue(redlock.get("longestGapMillis").doubleValue() > 0);
    assertEquals(0, redlock.get("lostUpdates").intValue());
    assertEquals(0, redlock.get("overlaps").intValue());
    assertEquals(0, redlock.get("tokensOutOfOrder").intValue());

    Path page = Path.of(json.get("html").textValue());
    assertEquals(directory.resolve("results/mortise-demo.html").toRealPath(), page.toRealPath());
    assertTrue(Files.readString(page).contains("</svg>"));
  }

  @Test
  void aSingleChapterEndsWithATable() throws Exception {
    Ended ended =
        demo("--quick", "--chapter", "without-lock", "--processes", "2", "--html", "page.html");
    assertEquals(0, ended.status(), ended::err);
    assertTrue(ended.out().contains("CHAPTER"), ended::out);
    assertTrue(ended.out().contains("oversold"), ended::out);
    assertTrue(ended.err().contains("Without a lock"), ended::err);
    assertTrue(Files.exists(directory.resolve("page.html")));
  }

  @Test
  void eachWorkerLeavesARecordingAndItsJvmPrintsNothingBetweenTheEvents() throws Exception {
    Ended ended =
        demo("--quick", "--json", "--chapter", "redis-lock", "--processes", "2", "--record", "a b");
    assertEquals(0, ended.status(), () -> ended.out() + ended.err());
    try (Stream<Path> files = Files.list(directory.resolve("a b"))) {
      List<Path> recordings = files.toList();
      assertEquals(2, recordings.size(), recordings::toString);
      for (Path recording : recordings) {
        assertTrue(
            RecordingFile.readAllEvents(recording).stream()
                .anyMatch(event -> event.getEventType().getName().equals("io.mortise.LockWait")),
            recording::toString);
      }
    }
  }
}
