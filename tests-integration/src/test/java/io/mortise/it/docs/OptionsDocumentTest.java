package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Acknowledgement;
import io.mortise.core.LockOptions;
import io.mortise.core.LockTuning;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The tables of docs/options.md have all options, with their defaults. */
class OptionsDocumentTest {
  private static final Path DOCUMENT = Path.of("../docs/options.md");
  private static final Pattern ROW = Pattern.compile("\\| `(\\w+)` \\| ([^|]+) \\| .*");

  @Test
  void theTableOfTheClientHasAllOptionsWithTheirDefaults() throws Exception {
    LockOptions defaults = LockOptions.defaults();
    assertEquals(
        List.of(
            "namespace: " + (defaults.namespace().isEmpty() ? "empty" : defaults.namespace()),
            "lease: " + text(defaults.lease()),
            "maxHold: " + text(defaults.maxHold()),
            "outageTimeout: " + text(defaults.outageTimeout()),
            "commandTimeout: " + text(defaults.commandTimeout()),
            "acknowledgement: "
                + (defaults.acknowledgement().equals(Acknowledgement.NONE) ? "none" : "one"),
            "traceLeases: " + defaults.traceLeases(),
            "listener: " + (defaults.listeners().isEmpty() ? "none" : "some")),
        rows("## The client"));
    Set<String> settings = settings(LockOptions.Builder.class);
    settings.remove("tuning");
    assertEquals(settings, names("## The client"));
  }

  @Test
  void theTableOfTheTuningHasAllOptionsWithTheirDefaults() throws Exception {
    LockTuning defaults = LockOptions.defaults().tuning();
    assertEquals(
        List.of(
            "maxConnections: " + defaults.maxConnections(),
            "subscriptionLinger: " + text(defaults.subscriptionLinger()),
            "tokenRetention: " + text(defaults.tokenRetention()),
            "clockDrift: " + defaults.clockDrift(),
            "maxHandOffs: " + defaults.maxHandOffs(),
            "maxHandOffTime: " + text(defaults.maxHandOffTime())),
        rows("## What is rarely set"));
    assertEquals(settings(LockTuning.Builder.class), names("## What is rarely set"));
  }

  @Test
  void theDefaultOfTheWaiterTimeoutIsThatOfBothLocks() throws Exception {
    boolean inTheRow =
        Files.readAllLines(DOCUMENT).stream()
            .filter(line -> line.startsWith("| the waiter timeout"))
            .anyMatch(
                row -> row.contains("| " + text(RedisFairLock.DEFAULT_WAITER_TIMEOUT) + " |"));
    assertEquals(RedisFairLock.DEFAULT_WAITER_TIMEOUT, RedisReadWriteLock.DEFAULT_WAITER_TIMEOUT);
    assertTrue(inTheRow);
  }

  /** The methods of a builder that return it. */
  private static Set<String> settings(Class<?> builder) {
    return Arrays.stream(builder.getDeclaredMethods())
        .filter(method -> method.getReturnType() == builder)
        .map(Method::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> names(String heading) throws Exception {
    return rows(heading).stream()
        .map(row -> row.substring(0, row.indexOf(':')))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<String> rows(String heading) throws Exception {
    List<String> rows =
        Files.readAllLines(DOCUMENT).stream()
            .dropWhile(line -> !line.startsWith(heading))
            .skip(1)
            .takeWhile(line -> !line.startsWith("## "))
            .map(ROW::matcher)
            .filter(Matcher::matches)
            .map(row -> row.group(1) + ": " + row.group(2))
            .toList();
    assertFalse(rows.isEmpty(), heading);
    return rows;
  }

  private static String text(Duration time) {
    if (time.toMillis() < 1_000) {
      return time.toMillis() + " ms";
    } else if (time.toSeconds() < 60) {
      return time.toSeconds() + " s";
    }
    return time.toDays() > 0 ? time.toDays() + " days" : time.toMinutes() + " min";
  }
}
