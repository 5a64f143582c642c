package io.mortise.scripts;

import static io.mortise.scripts.ScriptCall.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptCallTest {
  private static final Script ACQUIRE = Script.load("lock/acquire"); // 3 keys, 5 arguments

  @Test
  void aCallHasAsManyKeysAndArgumentsAsItsScriptTakes() {
    ScriptCall call = new ScriptCall(ACQUIRE, words(3), words(5));

    assertEquals(3, call.keys().size());
    assertEquals(5, call.arguments().size());
  }

  @ParameterizedTest
  @CsvSource({"2, 5", "4, 5", "3, 4", "3, 6", "5, 3", "0, 0"})
  void anyOtherNumberIsRefused(int keys, int arguments) {
    assertEquals(
        "script 'lock/acquire' takes 3 keys and 5 arguments, not %d and %d"
            .formatted(keys, arguments),
        assertThrows(
                IllegalArgumentException.class,
                () -> new ScriptCall(ACQUIRE, words(keys), words(arguments)))
            .getMessage());
  }

  @Test
  void aBatchScriptTakesThoseOfOneItem() {
    Script renew = Script.load("lock/renew");

    assertEquals(2, new ScriptCall(renew, words(2), words(2)).keys().size());
    assertThrows(IllegalArgumentException.class, () -> new ScriptCall(renew, words(4), words(4)));
  }

  @Test
  void laterChangesOfTheListsDoNotReachTheCall() {
    List<byte[]> keys = new ArrayList<>(words(3));
    List<byte[]> arguments = new ArrayList<>(words(5));
    ScriptCall call = new ScriptCall(ACQUIRE, keys, arguments);

    keys.clear();
    arguments.clear();

    assertEquals(3, call.keys().size());
    assertEquals(5, call.arguments().size());
  }

  @Test
  void textIsUtf8AndNumbersAreDecimal() {
    assertArrayEquals(new byte[] {(byte) 0xc3, (byte) 0xbc}, bytes("ü"));
    assertArrayEquals(new byte[] {'-', '1', '2'}, bytes(-12));
  }

  @Test
  void aNameThatReadsAsThePublishCommandIsNotReplacedByIt() {
    assertTrue(ScriptCall.isPublish(ScriptCall.publish()));
    assertFalse(ScriptCall.isPublish(bytes("PUBLISH")));
  }

  private static List<byte[]> words(int count) {
    return Collections.nCopies(count, bytes("x"));
  }
}
