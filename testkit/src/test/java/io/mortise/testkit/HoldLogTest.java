package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.HoldLog.Entry;
import io.mortise.testkit.HoldLog.Mode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HoldLogTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir Path directory;

  @Test
  void whatWasRecordedIsRead() {
    long before = System.nanoTime();
    try (HoldLog log = HoldLog.open(directory)) {
      HoldLog.Hold write = log.acquired("a\tname\nof 2 lines ü", "h 1", 7);
      write.released();
      log.acquired("b", "h 2", 8, Mode.SHARED);
    }
    List<Entry> read = HoldLog.read(directory);
    assertEquals(2, read.size());
    Entry first = read.get(0);
    assertEquals("a\tname\nof 2 lines ü", first.lockName());
    assertEquals("h 1", first.holder());
    assertEquals(7, first.fencingToken());
    assertEquals(Mode.EXCLUSIVE, first.mode());
    assertEquals(ProcessHandle.current().pid(), first.processId());
    assertTrue(first.acquiredNanos() >= before);
    assertTrue(first.endNanos().orElseThrow() >= first.acquiredNanos());
    assertEquals(Mode.SHARED, read.get(1).mode());
    assertEquals(OptionalLong.empty(), read.get(1).endNanos());
  }

  @Test
  void theEarlierOfReleaseAndLossCounts() {
    try (HoldLog log = HoldLog.open(directory)) {
      HoldLog.Hold hold = log.acquired("a", "h", 1);
      long lost = System.nanoTime();
      hold.released();
      hold.lost(lost);
      assertEquals(lost, HoldLog.read(directory).get(0).endNanos().orElseThrow());
    }
  }

  @Test
  void anInterruptedThreadRecordsAndTheLogGoesOn() {
    try (HoldLog log = HoldLog.open(directory)) {
      Thread.currentThread().interrupt();
      log.acquired("a", "h 1", 1);
      assertTrue(Thread.interrupted(), "its interrupt status is kept");
      log.acquired("a", "h 2", 2);
    }
    assertEquals(2, HoldLog.read(directory).size());
  }

  @Test
  void aLineThatWasCutOffIsLeftOutAndAStrangeOneIsRefused() throws Exception {
    try (HoldLog log = HoldLog.open(directory)) {
      log.acquired("a", "h", 1);
    }
    Path file = onlyFile();
    Files.writeString(file, "E\t1\t12", StandardOpenOption.APPEND);
    assertTrue(HoldLog.read(directory).get(0).endNanos().isEmpty());
    Files.writeString(file, "3\nstrange\n", StandardOpenOption.APPEND);
    var refused = assertThrows(IllegalArgumentException.class, () -> HoldLog.read(directory));
    assertTrue(refused.getMessage().contains("strange"), refused.getMessage());
  }

  @Test
  void anEmptyDirectoryIsNoEvidence() {
    assertThrows(IllegalArgumentException.class, () -> HoldChecker.check(directory));
  }

  private Path onlyFile() throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      return files.findFirst().orElseThrow();
    }
  }

  @Test
  void aKilledProcessLosesNoLineAndItsClockIsOurs() throws Exception {
    long before = System.nanoTime();
    try (JavaProcess child = JavaProcess.start(Holder.class, directory.toString());
        HoldLog log = HoldLog.open(directory)) {
      child.awaitLine("held", LONG);
      child.kill();
      log.acquired("a", "here", 1_001).released();

      List<Entry> read = HoldLog.read(directory);
      assertEquals(1_001, read.size());
      Entry last = read.get(999);
      assertEquals(child.pid(), last.processId());
      assertEquals(1_000, last.fencingToken());
      assertTrue(last.endNanos().isEmpty());
      assertTrue(read.get(0).acquiredNanos() > before);
      assertTrue(last.acquiredNanos() < read.get(1_000).acquiredNanos());
      HoldChecker.Report report = HoldChecker.check(directory);
      report.assertSafe();
      assertEquals(1, report.unfinished());
      assertEquals(2, report.holdsByProcess().size());
    }
    assertFalse(HoldLog.read(directory).isEmpty());
  }

  /** Has a thousand holds one after the other, and keeps the last. */
  static final class Holder {
    public static void main(String[] arguments) throws Exception {
      HoldLog log = HoldLog.open(Path.of(arguments[0]));
      for (int token = 1; token < 1_000; token++) {
        log.acquired("a", "child", token).released();
      }
      log.acquired("a", "child", 1_000);
      System.out.println("held");
      System.in.read();
    }
  }
}
