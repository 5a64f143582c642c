package io.mortise.it.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.Sets;
import io.mortise.scripts.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The commands that docs/wire.md says a user needs are those that the scripts of each family call,
 * no fewer and no more. A test with a user of those rights finds only what it happens to run.
 */
class ScriptRightsTest {
  private static final Path SCRIPTS =
      Path.of("..", "scripts", "src", "main", "resources", "io", "mortise", "scripts");
  private static final Pattern CALL = Pattern.compile("redis\\.p?call[(,]\\s*'([A-Z]+)'");

  /** The client sends these itself, or scripts take them as an argument. */
  private static final Set<String> OF_THE_CLIENT =
      Set.of("eval", "evalsha", "subscribe", "unsubscribe", "publish", "ping", "select", "info");

  /** It needs rights of its own, see there. */
  private static final String INSPECTION = "lock/describe";

  @Test
  void aPlainLockNeedsWhatItsScriptsCall() throws IOException {
    assertEquals(
        sorted(Sets.union(OF_THE_CLIENT, called("lock"))), commands(Rights.documented("")));
  }

  @Test
  void aFairLockNeedsThoseOfItsScriptsBesides() throws IOException {
    assertNeeds("fair", Rights.documented(""), Rights.ofFairLocks(""));
  }

  @Test
  void aReadWriteLockNeedsThoseOfItsScriptsBesides() throws IOException {
    assertNeeds("rw", Rights.ofFairLocks(""), Rights.ofReadWriteLocks(""));
  }

  @Test
  void aSegmentedLockNeedsThoseOfItsScriptsBesides() throws IOException {
    assertNeeds("segment", Rights.ofFairLocks(""), Rights.ofSegmentedLocks(""));
  }

  private static void assertNeeds(String family, List<String> others, List<String> all)
      throws IOException {
    Set<String> before = commands(others);
    assertEquals(sorted(Sets.union(before, called(family))), commands(all));
  }

  /** Returns the commands that the scripts of a folder call, with all that they include. */
  private static Set<String> called(String folder) throws IOException {
    try (Stream<Path> files = Files.list(SCRIPTS.resolve(folder))) {
      return sorted(
          files
              .map(file -> folder + "/" + file.getFileName().toString().replace(".lua", ""))
              .filter(path -> !path.equals(INSPECTION))
              .map(path -> new String(Script.load(path).text(), UTF_8))
              .flatMap(text -> CALL.matcher(text).results())
              .map(call -> call.group(1).toLowerCase(Locale.ROOT))
              .toList());
    }
  }

  private static Set<String> commands(List<String> rules) {
    return sorted(
        rules.stream()
            .filter(rule -> rule.startsWith("+"))
            .map(rule -> rule.substring(1))
            .toList());
  }

  private static Set<String> sorted(Iterable<String> commands) {
    return ImmutableSortedSet.copyOf(commands);
  }
}
