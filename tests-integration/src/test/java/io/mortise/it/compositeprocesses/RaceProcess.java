package io.mortise.it.compositeprocesses;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldLog;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A child JVM whose threads enter a section once, all at the same moment. It reads {@code race
 * <nanoTime>}, prints {@code in <nanoTime>} for each thread inside, and ends with its input.
 */
final class RaceProcess {
  private RaceProcess() {}

  /** Arguments: URIs, name, directory of the log, lease in ms, threads. */
  public static void main(String[] arguments) throws Exception {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
    List<String> names = List.of(arguments[1]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (Section section =
            SectionLocks.RED_PATIENT.section(List.of(arguments[0].split(",", -1)), names, lease);
        HoldLog log = HoldLog.open(Path.of(arguments[2]));
        TestThreads threads = new TestThreads()) {
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        long start = Long.parseLong(line.split(" ", -1)[1]);
        for (int thread = 0; thread < Integer.parseInt(arguments[4]); thread++) {
          String who = "thread-" + thread;
          threads.start(() -> race(section, log, who, start));
        }
        threads.join(ProcessTeam.LIMIT);
      }
    }
  }

  private static void race(Section section, HoldLog log, String who, long start) {
    long left = start - System.nanoTime();
    while (left > 0) {
      LockSupport.parkNanos(left);
      left = start - System.nanoTime();
    }
    section.enter();
    try {
      long now = System.nanoTime();
      HoldLog.Hold hold =
          log.acquired("raced for", who, section.tokens().values().iterator().next());
      System.out.println("in " + now);
      hold.released();
    } finally {
      section.leave();
    }
  }
}
