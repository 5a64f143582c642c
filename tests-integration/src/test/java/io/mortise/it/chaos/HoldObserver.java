package io.mortise.it.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LeaseLoss;
import io.mortise.testkit.HoldLog.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What a process says of its holds beyond the log of holds: between which moments each was granted,
 * and what its holder was told in the end. A file a process, a line a fact, written at once, so
 * that a killed process loses none.
 *
 * <pre>
 * G  holder  resource  mode  token  not before (ns)  not after (ns)     granted
 * L  holder  told (ns)  reason                                          told of the loss
 * U  holder                                                             the release is not confirmed
 * R  holder                                                             released
 * </pre>
 */
final class HoldObserver implements AutoCloseable {
  private static final String PREFIX = "witness-";

  private final FileChannel file;

  HoldObserver(Path directory) {
    try {
      file =
          FileChannel.open(
              directory.resolve(PREFIX + ProcessHandle.current().pid()),
              StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("no file for a witness in '" + directory + "'", e);
    }
  }

  void granted(String holder, SectionEntry side, long token, long notBefore, long notAfter) {
    for (String resource : side.resources()) {
      write("G", holder, resource, side.mode(), token, notBefore, notAfter);
    }
  }

  void told(String holder, LeaseLoss loss) {
    write("L", holder, System.nanoTime(), loss.reason());
  }

  void unconfirmed(String holder) {
    write("U", holder);
  }

  void released(String holder) {
    write("R", holder);
  }

  private void write(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.length() == 0 ? "" : "\t").append(field);
    }
    try {
      file.write(ByteBuffer.wrap(line.append('\n').toString().getBytes(UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException("a witness could not be heard", e);
    }
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the file of a witness did not close", e);
    }
  }

  /** Whose hold it is: a holder has one only. */
  record Holder(long process, String name) {}

  /**
   * A grant by the server, as its client bounds it.
   *
   * @param notBefore when the request that granted or confirmed it had not been sent yet
   * @param notAfter when the answer was there
   */
  record Grant(
      Holder holder, String resource, Mode mode, long token, long notBefore, long notAfter) {}

  /** What a holder was told in the end. */
  enum Fate {
    /** It was told that the lease is lost. */
    TOLD,
    /** Its release could not be confirmed, and it was told that. */
    UNCONFIRMED,
    /** Its release was confirmed. */
    RELEASED
  }

  /**
   * All that the processes have said.
   *
   * @param fates a holder that is not in it died before its hold ended
   * @param toldNanos when those that are {@link Fate#TOLD} were
   */
  record Testimony(List<Grant> grants, Map<Holder, Fate> fates, Map<Holder, Long> toldNanos) {}

  static Testimony read(Path directory) {
    Testimony all = new Testimony(new ArrayList<>(), new HashMap<>(), new HashMap<>());
    try (Stream<Path> files = Files.list(directory)) {
      for (Path path :
          files.filter(each -> each.getFileName().toString().startsWith(PREFIX)).toList()) {
        long process = Long.parseLong(path.getFileName().toString().substring(PREFIX.length()));
        String text = Files.readString(path);
        // A line without its end was being written when the process died.
        text.substring(0, text.lastIndexOf('\n') + 1)
            .lines()
            .forEach(line -> hear(all, process, line.split("\t", -1)));
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException("the witnesses cannot be heard", e);
    }
  }

  private static void hear(Testimony all, long process, String[] fields) {
    Holder holder = new Holder(process, fields[1]);
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
        all.fates.put(holder, Fate.TOLD); // by the listener, and perhaps by the release once more
        all.toldNanos.merge(holder, Long.parseLong(fields[2]), Math::min);
      }
      case "U" -> all.fates.putIfAbsent(holder, Fate.UNCONFIRMED);
      case "R" -> all.fates.putIfAbsent(holder, Fate.RELEASED);
      default -> throw new IllegalArgumentException("unknown fact '" + fields[0] + "'");
    }
  }
}
