package io.mortise.scripts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScriptTest {

  static List<String> everyScript() throws Exception {
    Path root = Path.of(Script.class.getResource("lock/acquire.lua").toURI()).resolve("../..");
    try (Stream<Path> files = Files.walk(root.normalize())) {
      return files
          .filter(file -> file.toString().endsWith(".lua"))
          .map(file -> root.normalize().relativize(file).toString().replace(".lua", ""))
          .filter(path -> !path.startsWith("common"))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("everyScript")
  void everyScriptKeepsWhatItsHeaderSays(String path) {
    String text = ScriptText.assemble(path, ScriptTest::file);
    assertTrue(text.startsWith("-- " + path + ": "), "the header names the script");
    assertTrue(text.contains("-- Answer: "), "the header says what is answered");
    assertTrue(text.contains("-- Cost: "), "the header says what it costs");
    assertTrue(text.contains("afe to repeat") || text.contains("Writes nothing"));
    assertFalse(text.contains("@include"), "everything is included");
  }

  private static String file(String path) {
    try (InputStream in = Script.class.getResourceAsStream(path + ".lua")) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("everyScript")
  void redisGetsNoComments(String path) {
    List<String> sent = new String(Script.load(path).text(), UTF_8).lines().toList();
    List<String> written = ScriptText.assemble(path, ScriptTest::file).lines().toList();

    assertEquals(written.size(), sent.size(), "the numbers of the lines stay");
    assertEquals(List.of(), sent.stream().filter(line -> line.startsWith("--")).toList());
    assertEquals(
        written.get(written.size() - 1).strip(),
        sent.get(sent.size() - 1),
        "the code is all there");
  }

  @Test
  void aBlockOfCommentsIsLeftOutAsAWhole() {
    String text = "-- one\n  local a = 1 -- two\n--[[ three\nfour ]]\n--[[ five ]]\nreturn a\n";

    assertEquals("\nlocal a = 1 -- two\n\n\n\nreturn a\n", ScriptText.withoutComments(text));
  }

  @Test
  void theDigestIsTheOneThatRedisComputes() {
    // printf 'return 1' | sha1sum would do; here the text is the script's own.
    Script script = Script.load("lock/acquire");
    String sha1 = new String(script.sha1(), US_ASCII);

    assertTrue(sha1.matches("[0-9a-f]{40}"), sha1);
    assertEquals("lock/acquire", script.path());
    assertEquals(3, script.keys());
    assertEquals(5, script.arguments());
    assertFalse(script.batch());
    assertTrue(Script.load("lock/renew").batch());
    assertSame(script, Script.load("lock/acquire"));
  }

  @Test
  void aCallerCannotChangeAScript() {
    Script script = Script.load("lock/acquire");
    byte[] text = script.text().clone();
    byte[] sha1 = script.sha1().clone();

    script.text()[0]++;
    script.sha1()[0]++;

    assertArrayEquals(text, script.text());
    assertArrayEquals(sha1, script.sha1());
  }

  @Test
  void anUnknownScriptIsRefused() {
    var refused = assertThrows(IllegalArgumentException.class, () -> Script.load("lock/steal"));
    assertNotNull(refused.getMessage());
    assertTrue(refused.getMessage().contains("lock/steal"));
  }

  @Test
  void anIncludedFileStandsOnceHoweverOftenItIsAskedFor() {
    Map<String, String> files = new HashMap<>();
    files.put("a/b", "-- @include common/x\n-- @include common/y\nreturn x()");
    files.put("common/x", "local x = 1");
    files.put("common/y", "-- @include common/x\nlocal y = x");

    assertEquals("local x = 1\nlocal y = x\nreturn x()\n", ScriptText.assemble("a/b", files::get));
  }

  @Test
  void aBodyThatContradictsItsHeaderIsRefused() {
    refused("return 1", "declares no key");
    refused("-- KEYS[1] lock\nreturn KEYS[2]", "declares 1 KEYS and uses [2]");
    refused("-- KEYS[1] lock\n-- KEYS[3] gap\nreturn KEYS[1]", "with a gap");
    refused("-- KEYS[1] lock\n-- KEYS[2] x\nreturn KEYS[1] .. KEYS[3]", "uses [1, 3]");
    refused("-- KEYS[1] lock\nreturn KEYS[1] .. ARGV[1]", "declares 0 ARGV and uses [1]");
    refused("-- KEYS[1] lock\n-- ARGV[1] never used\nreturn KEYS[1]", "declares 1 ARGV");
  }

  @Test
  void aHeaderTellsTheNumbersOfOneItem() {
    assertEquals(
        new ScriptHeader(1, 0, false),
        ScriptHeader.of("test/x", "-- KEYS[1] lock\nreturn KEYS[1] -- not KEYS[2]"));
    assertEquals(
        new ScriptHeader(1, 2, true),
        ScriptHeader.of(
            "test/x",
            "-- EACH item\n-- KEYS[1] lock\n-- ARGV[1] holder\n-- ARGV[2] lease\n"
                + "return KEYS[i] .. ARGV[2 * i]"),
        "no pattern can check the indexes of a batch");
  }

  private static void refused(String text, String why) {
    var refused =
        assertThrows(IllegalArgumentException.class, () -> ScriptHeader.of("test/x", text));
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }
}
