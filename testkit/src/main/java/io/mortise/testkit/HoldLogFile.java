package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testkit.HoldLog.Entry;
import io.mortise.testkit.HoldLog.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The format of the file that one process writes: fields separated by tabs, one fact a line. Reads
 * such files; {@link HoldLog}, the other half, writes them.
 *
 * <pre>
 * P  process id
 * A  id  nanos  mode  token  lock name  holder      acquired; names are URL-encoded
 * E  id  nanos                                      ended; of several the earliest counts
 * </pre>
 *
 * <p><b>Threads.</b> Confined to the thread that reads.
 */
final class HoldLogFile {
  static final String PREFIX = "holds-";
  static final String SUFFIX = ".log";
  static final String SEPARATOR = "\t";
  static final String PROCESS = "P";
  static final String ACQUIRED = "A";
  static final String ENDED = "E";

  private final Map<Long, Entry> entries = new LinkedHashMap<>();
  private long processId = -1;

  private HoldLogFile() {}

  static List<Entry> readAll(Path directory) {
    List<Entry> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> ours = files.filter(HoldLogFile::isOurs).toList();
      if (ours.isEmpty()) {
        throw new IllegalArgumentException("no log of holds in '" + directory + "'");
      }
      for (Path file : ours) {
        all.addAll(read(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the log of holds cannot be read", e);
    }
    all.sort(Comparator.comparingLong(Entry::acquiredNanos));
    return all;
  }

  private static boolean isOurs(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
  }

  private static List<Entry> read(Path path) throws IOException {
    String text = Files.readString(path);
    // A line without its end was being written when the process died.
    String complete = text.substring(0, text.lastIndexOf('\n') + 1);
    HoldLogFile file = new HoldLogFile();
    for (String line : complete.lines().toList()) {
      try {
        file.add(line.split(SEPARATOR, -1));
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        throw new IllegalArgumentException(
            "'%s' has a line that is not of a log of holds: '%s'".formatted(path, line), e);
      }
    }
    return List.copyOf(file.entries.values());
  }

  private void add(String[] fields) {
    switch (fields[0]) {
      case PROCESS -> processId = Long.parseLong(fields[1]);
      case ACQUIRED ->
          entries.put(
              Long.parseLong(fields[1]),
              new Entry(
                  URLDecoder.decode(fields[5], UTF_8),
                  URLDecoder.decode(fields[6], UTF_8),
                  processId,
                  Long.parseLong(fields[4]),
                  Mode.valueOf(fields[3]),
                  Long.parseLong(fields[2]),
                  OptionalLong.empty()));
      case ENDED -> {
        long end = Long.parseLong(fields[2]);
        entries.computeIfPresent(Long.parseLong(fields[1]), (id, entry) -> ended(entry, end));
      }
      default -> throw new IllegalArgumentException("unknown kind '" + fields[0] + "'");
    }
  }

  private static Entry ended(Entry entry, long nanos) {
    return new Entry(
        entry.lockName(),
        entry.holder(),
        entry.processId(),
        entry.fencingToken(),
        entry.mode(),
        entry.acquiredNanos(),
        OptionalLong.of(Math.min(nanos, entry.endNanos().orElse(nanos))));
  }
}
