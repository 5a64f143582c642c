package io.mortise.core.internal.inspect;

import com.google.common.primitives.Longs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The facts that a client writes about its process: lines of {@code name=value}. A reader ignores
 * names that it does not know, and takes values that it cannot read for unknown.
 */
record ProcessFacts(Map<String, String> values) {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessFacts.class);
  static final ProcessFacts UNKNOWN = new ProcessFacts(Map.of());

  private static final Path LINUX_HOST = Path.of("/proc/sys/kernel/hostname");
  private static final String HOST = "host";
  private static final String PROCESS_ID = "pid";
  private static final String STARTED = "started";
  private static final String JAVA = "java";
  private static final String MORTISE = "mortise";

  /** Returns the facts of this process, of a client that was made at that time. */
  static ProcessFacts ofThisProcess(Instant started) {
    Map<String, String> values = new TreeMap<>();
    hostName().ifPresent(host -> values.put(HOST, host));
    values.put(PROCESS_ID, Long.toString(ProcessHandle.current().pid()));
    values.put(STARTED, started.toString());
    values.put(JAVA, System.getProperty("java.version", "?"));
    values.put(MORTISE, version());
    return new ProcessFacts(Map.copyOf(values));
  }

  /** Asks no name server, which could take seconds. */
  private static Optional<String> hostName() {
    return Stream.of(kernelHostName(), System.getenv("COMPUTERNAME"), System.getenv("HOSTNAME"))
        .filter(name -> name != null && !name.isBlank())
        .map(String::strip)
        .findFirst();
  }

  private static @Nullable String kernelHostName() {
    try {
      return Files.isReadable(LINUX_HOST) ? Files.readString(LINUX_HOST) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Returns the version that the build wrote into the jar; "?" if it was repackaged without it. */
  private static String version() {
    Properties properties = new Properties();
    try (InputStream in = ProcessFacts.class.getResourceAsStream("version.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      LOG.debug("the version of Mortise cannot be read", e);
    }
    return properties.getProperty("version", "?");
  }

  /** Reads the text of a record; empty for none. */
  static ProcessFacts parse(String text) {
    Map<String, String> values = new TreeMap<>();
    text.lines()
        .map(line -> line.split("=", 2))
        .filter(pair -> pair.length == 2 && !pair[1].isBlank())
        .forEach(pair -> values.putIfAbsent(pair[0], pair[1]));
    return new ProcessFacts(Map.copyOf(values));
  }

  String text() {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(values)
        .forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return text.toString();
  }

  Optional<String> host() {
    return Optional.ofNullable(values.get(HOST));
  }

  OptionalLong processId() {
    Long id = Longs.tryParse(values.getOrDefault(PROCESS_ID, ""));
    return id == null ? OptionalLong.empty() : OptionalLong.of(id);
  }

  Optional<Instant> started() {
    try {
      return Optional.ofNullable(values.get(STARTED)).map(Instant::parse);
    } catch (DateTimeParseException unreadable) {
      return Optional.empty();
    }
  }

  Optional<String> javaVersion() {
    return Optional.ofNullable(values.get(JAVA));
  }

  Optional<String> mortiseVersion() {
    return Optional.ofNullable(values.get(MORTISE));
  }
}
