package io.mortise.it.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.testkit.HoldLog.Mode;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Records the holds of a process in more detail than the {@link io.mortise.testkit.HoldLog}:
 * between which moments each was granted, and how it ended for its holder. Each process has a file,
 * and each fact a line, which is written at once: a killed process loses none.
 *
 * <pre>
 * G  holder  resource  mode  token  not before (ns)  not after (ns)     granted
 * L  holder  notified (ns)  reason  end (ns)  by its release            notified of the loss
 * U  holder                                                             the release is not confirmed
 * R  holder                                                             released
 * P  from (ns)  to (ns)                                                 the process did not run
 * J                                                                     it is on the caller's Jedis
 * </pre>
 *
 * <p><b>Threads.</b> Any thread may call any method: a line is one write.
 */
final class HoldObserver implements AutoCloseable {
  private static final String PREFIX = "observed-";
  private static final long WAIT_FOR_ROOM_NANOS = 1_000_000;

  static {
    FullHeap.prepare(OutOfMemoryError.class);
  }

  /** A stream, because an interrupt of a thread that writes would close a channel for all. */
  private final FileOutputStream file;

  private final AtomicInteger errors = new AtomicInteger();

  HoldObserver(Path directory) {
    try {
      file =
          new FileOutputStream(
              directory.resolve(PREFIX + ProcessHandle.current().pid()).toFile(), true);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a file in '" + directory + "'", e);
    }
  }

  void granted(String holder, SectionEntry entry, long token, long notBefore, long notAfter) {
    for (String resource : entry.resources()) {
      write("G", holder, resource, entry.mode(), token, notBefore, notAfter);
    }
  }

  /** Records a loss at the time of the call, also when it has to wait for room in the heap. */
  void notified(String holder, LeaseLoss loss) {
    long nowNanos = System.nanoTime();
    boolean recorded = false;
    while (!recorded) {
      try {
        write("L", holder, nowNanos, loss.reason(), loss.atNanos(), isByRelease(loss));
        recorded = true;
      } catch (OutOfMemoryError full) {
        LockSupport.parkNanos(WAIT_FOR_ROOM_NANOS);
      }
    }
  }

  /** Returns whether the lease ran out while a command that released it was under way. */
  private static boolean isByRelease(LeaseLoss loss) {
    return loss.detail().equals("its lease ran out while it was being released");
  }

  void unconfirmed(String holder) {
    write("U", holder);
  }

  void released(String holder) {
    write("R", holder);
  }

  void paused(long fromNanos, long toNanos) {
    write("P", fromNanos, toNanos);
  }

  /** Counts a step of a thread that had no room in the heap. */
  void outOfMemory() {
    errors.incrementAndGet();
  }

  void onCallersJedis() {
    write("J");
  }

  private void write(Object... fields) {
    String line =
        Arrays.stream(fields).map(String::valueOf).collect(Collectors.joining("\t", "", "\n"));
    try {
      file.write(line.getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot record a hold", e);
    }
  }

  @Override
  public void close() {
    write("E", errors.get());
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close the record of holds", e);
    }
  }

  /** A holder, which has one hold only. */
  record Holder(long process, String name) {}

  /**
   * A grant by the server, within the bounds that its client knows.
   *
   * @param notBefore when the request that granted or confirmed it had not been sent yet
   * @param notAfter when the answer had arrived
   */
  record Grant(
      Holder holder, String resource, Mode mode, long token, long notBefore, long notAfter) {}

  /** How a hold ended for its holder. */
  enum Outcome {
    /** The holder was notified that the lease is lost. */
    NOTIFIED,
    /** The holder learned that its release could not be confirmed. */
    UNCONFIRMED,
    /** The release was confirmed. */
    RELEASED
  }

  /**
   * A loss of which a holder was notified.
   *
   * @param endNanos when the hold stopped being valid
   * @param byRelease whether the answer to its release notified the holder
   */
  record Loss(long notifiedNanos, Reason reason, long endNanos, boolean byRelease) {}

  /** A time in which a process did not run. */
  record Pause(long fromNanos, long toNanos) {}

  /**
   * The records of all processes.
   *
   * @param outcomes has no entry for a holder that died before its hold ended
   * @param losses of each holder whose outcome is {@link Outcome#NOTIFIED}
   * @param pauses of each process, in the order of time
   * @param onCallersJedis the processes whose clients use a Jedis client of the caller's
   * @param errors how often there was no room in the heap, of each process that has ended in order
   */
  record Observations(
      List<Grant> grants,
      Map<Holder, Outcome> outcomes,
      Map<Holder, Loss> losses,
      Map<Long, List<Pause>> pauses,
      Set<Long> onCallersJedis,
      Map<Long, Integer> errors) {}

  static Observations read(Path directory) {
    Observations all =
        new Observations(
            new ArrayList<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashSet<>(),
            new HashMap<>());
    try (Stream<Path> files = Files.list(directory)) {
      for (Path path : files.toList()) {
        String name = path.getFileName().toString();
        if (name.startsWith(PREFIX)) {
          long process = Long.parseLong(name.substring(PREFIX.length()));
          String text = Files.readString(path);
          // The process died while it wrote a line without an end.
          text.substring(0, text.lastIndexOf('\n') + 1)
              .lines()
              .forEach(line -> parse(all, process, line.split("\t", -1)));
        }
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the records of holds", e);
    }
  }

  private static void parse(Observations all, long process, String[] fields) {
    switch (fields[0]) {
      case "P" ->
          all.pauses
              .computeIfAbsent(process, id -> new ArrayList<>())
              .add(new Pause(Long.parseLong(fields[1]), Long.parseLong(fields[2])));
      case "J" -> all.onCallersJedis.add(process);
      case "E" -> all.errors.put(process, Integer.parseInt(fields[1]));
      default -> parse(all, new Holder(process, fields[1]), fields);
    }
  }

  private static void parse(Observations all, Holder holder, String[] fields) {
    switch (fields[0]) {
      case "G" ->
          all.grants.add(
              new Grant(
                  holder,
                  fields[2],
                  Mode.valueOf(fields[3]),
                  Long.parseLong(fields[4]),
                  Long.parseLong(fields[5]),
                  Long.parseLong(fields[6])));
      case "L" -> {
        // By the listener, and perhaps once more by the release.
        all.outcomes.put(holder, Outcome.NOTIFIED);
        Loss loss =
            new Loss(
                Long.parseLong(fields[2]),
                Reason.valueOf(fields[3]),
                Long.parseLong(fields[4]),
                Boolean.parseBoolean(fields[5]));
        all.losses.merge(holder, loss, (a, b) -> a.notifiedNanos() <= b.notifiedNanos() ? a : b);
      }
      case "U" -> all.outcomes.putIfAbsent(holder, Outcome.UNCONFIRMED);
      case "R" -> all.outcomes.putIfAbsent(holder, Outcome.RELEASED);
      default -> throw new IllegalArgumentException("unknown fact '" + fields[0] + "'");
    }
  }
}
