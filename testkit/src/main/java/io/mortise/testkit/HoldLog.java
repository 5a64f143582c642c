package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A log of who held which lock from when to when, written by any number of processes of one machine
 * into one directory. {@link HoldChecker} judges it.
 *
 * <pre>{@code
 * lock.lock();
 * try {
 *   HoldLog.Hold hold = log.acquired(lock.name(), "worker-3", lock.lease().fencingToken());
 *   ...
 *   hold.released();
 * } finally {
 *   lock.unlock();
 * }
 * }</pre>
 *
 * <p>A hold is recorded after the lock was granted, and its end before the lock is given up. So the
 * log never claims more than was true, and two holds that overlap in it did overlap.
 *
 * <p><b>Crashes.</b> Each process writes a file of its own, and each line goes to the operating
 * system at once: a killed process loses none, only a crash of the machine can. A hold without an
 * end means that its holder died, or still held it when the log was read.
 *
 * <p><b>The clock</b> is {@link System#nanoTime()}. Java promises nothing about it between
 * processes. On Linux, HotSpot reads CLOCK_MONOTONIC, which all processes of a machine share
 * (containers too, unless they have a time namespace of their own); on macOS and Windows it also
 * reads a clock that counts from the start of the machine. Logs of different machines cannot be put
 * together.
 *
 * <p><b>Threads.</b> Any thread may call all methods; a line is one write in append mode.
 */
public final class HoldLog implements AutoCloseable {
  /*
   * Two halves of one thing: this class has the API and writes, HoldLogFile has the format of the
   * lines and reads them back.
   */

  /** The mode of a hold: whether it may overlap with others. */
  public enum Mode {
    /** It may not. */
    EXCLUSIVE,
    /** It may, with other shared holds: a reader. */
    SHARED
  }

  /**
   * A hold as it was read from a log.
   *
   * @param lockName the name of the lock
   * @param holder who held it, unique in its process
   * @param processId the process of the holder
   * @param fencingToken the token of the hold
   * @param mode exclusive or shared
   * @param acquiredNanos when it was certainly held for the first time, on the clock of the log
   * @param endNanos when it was certainly held for the last time; empty if there is no record of it
   */
  public record Entry(
      String lockName,
      String holder,
      long processId,
      long fencingToken,
      Mode mode,
      long acquiredNanos,
      OptionalLong endNanos) {

    /** Refuses null. */
    public Entry {
      Objects.requireNonNull(lockName, "lockName");
      Objects.requireNonNull(holder, "holder");
      Objects.requireNonNull(mode, "mode");
      Objects.requireNonNull(endNanos, "endNanos");
    }

    /** The end, or, if there is none, the only moment of which the log has evidence. */
    long lastEvidenceNanos() {
      return endNanos.orElse(acquiredNanos);
    }

    boolean isOfSameHolder(Entry other) {
      return processId == other.processId && holder.equals(other.holder);
    }

    @Override
    public String toString() {
      return "%s of '%s' by %s in process %d, token %d, from %d ns to %s"
          .formatted(
              mode,
              lockName,
              holder,
              processId,
              fencingToken,
              acquiredNanos,
              endNanos.isPresent() ? endNanos.getAsLong() + " ns" : "unknown");
    }
  }

  /** Not a channel: the interrupt of one thread that writes would close it for all. */
  private final FileOutputStream file;

  private final AtomicLong lastId = new AtomicLong();

  private HoldLog(FileOutputStream file) {
    this.file = file;
  }

  /**
   * Opens a new file for this process.
   *
   * @param directory is made if it is missing
   */
  public static HoldLog open(Path directory) {
    try {
      Files.createDirectories(Objects.requireNonNull(directory, "directory"));
      Path path = Files.createTempFile(directory, HoldLogFile.PREFIX, HoldLogFile.SUFFIX);
      HoldLog log = new HoldLog(new FileOutputStream(path.toFile(), true));
      log.write(HoldLogFile.PROCESS, ProcessHandle.current().pid());
      return log;
    } catch (IOException e) {
      throw new UncheckedIOException("no log of holds in '" + directory + "'", e);
    }
  }

  /**
   * Reads what all processes have written, complete lines only, in the order of acquisition.
   *
   * @throws IllegalArgumentException if there is no log, or a line is not one of ours
   */
  public static List<Entry> read(Path directory) {
    return HoldLogFile.readAll(Objects.requireNonNull(directory, "directory"));
  }

  /** Records an exclusive hold; see {@link #acquired(String, String, long, Mode)}. */
  public Hold acquired(String lockName, String holder, long fencingToken) {
    return acquired(lockName, holder, fencingToken, Mode.EXCLUSIVE);
  }

  /**
   * Records that the lock is held from now on. To be called once it is.
   *
   * @param holder unique among those that contend in this process; a holder does not exclude
   *     itself, so that re-entry and a downgrade to a reader are no overlaps
   */
  public Hold acquired(String lockName, String holder, long fencingToken, Mode mode) {
    long now = System.nanoTime();
    Objects.requireNonNull(lockName, "lockName");
    Objects.requireNonNull(holder, "holder");
    Objects.requireNonNull(mode, "mode");
    long id = lastId.incrementAndGet();
    write(
        HoldLogFile.ACQUIRED,
        id,
        now,
        mode,
        fencingToken,
        URLEncoder.encode(lockName, UTF_8),
        URLEncoder.encode(holder, UTF_8));
    return new Hold(this, id);
  }

  /** Closes the file. Holds that have not ended stay without an end. */
  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the log of holds did not close", e);
    }
  }

  private void write(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.length() == 0 ? "" : HoldLogFile.SEPARATOR).append(field);
    }
    try {
      file.write(line.append('\n').toString().getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("a hold could not be logged", e);
    }
  }

  /** A hold that is being recorded. */
  public static final class Hold {
    private final HoldLog log;
    private final long id;

    private Hold(HoldLog log, long id) {
      this.log = log;
      this.id = id;
    }

    /** Records that the hold ends now. To be called before the lock is given up. */
    public void released() {
      log.write(HoldLogFile.ENDED, id, System.nanoTime());
    }

    /**
     * Records that the hold was lost, as its lease says: {@code hold.lost(loss.atNanos())}. It may
     * follow {@link #released()}, if only the release reported the loss: the earlier end counts.
     *
     * @param atNanos {@link System#nanoTime()} at which it stopped being valid
     */
    public void lost(long atNanos) {
      log.write(HoldLogFile.ENDED, id, atNanos);
    }
  }
}
