package io.mortise.core.internal.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which hashes are taken for locks; M is a client of Mortise, R one of Redisson. */
class LockHashesTest {
  private static List<byte[]> fields(String text) {
    return Arrays.stream(
            text.replace("M:", "0a1b2c3d-0000-8000-9000-000000000001:")
                .replace("R:", "9f8e7d6c-0000-4000-8000-000000000002:")
                .split(" "))
        .flatMap(field -> Arrays.stream(field.split("=", 2)))
        .map(part -> part.getBytes(UTF_8))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "M:1-z-lyw8p4zk=1",
        "M:42=1",
        "M:1-z-lyw8p4zk:kept=1",
        "R:77=3",
        "mode=read M:1-z-lyw8p4zk=1 R:77=2",
        "mode=write M:1-z-lyw8p4zk:write=1 M:2-z-lyw8p4zk=1",
        "mode=write M:1-z-lyw8p4zk:kept:write=1",
        "mode=write R:77:write=1",
      })
  void theHashOfALock(String fields) {
    assertTrue(LockHashes.isLock(fields(fields)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "name=Ada",
        "mode=read",
        "mode=dark M:1-z-lyw8p4zk=1",
        "R:77=3 name=Ada",
        "R:77=text",
        "R:77=-1",
        "R:77=0",
        "R:77=1.5",
        "9f8e7d6c-0000-1000-8000-000000000002:77=1",
        "9f8e7d6c-0000-4000-8000-000000000002=1",
        "user:77=1",
      })
  void theHashOfSomebodyElse(String fields) {
    assertFalse(LockHashes.isLock(fields(fields)));
  }
}
