package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.util.JedisClusterCRC16;

class LockNameTest {

  @ParameterizedTest
  @CsvSource({
    "orders, p:{orders}",
    "order:42, p:{order:42}",
    "'a b', p:{a b}",
    "{shop}orders, p:{shop}orders",
    "orders:{42}, p:orders:{42}",
    "orders}, p:{orders}}", // as Redisson does
    "a}b{42}, p:a}b{42}",
    "'{{42}', 'p:{{42}'", // the tag is '{42'
    "'{42}{', 'p:{42}{'", // only the first one counts
    "größe, p:{größe}",
  })
  void theHashTagIsTheNameUnlessItBringsOne(String name, String derived) {
    assertEquals(derived, new LockName(name).derive("p"));
  }

  @Test
  void noNameAtAllIsRefusedInWords() {
    assertEquals(
        "a lock needs a name, not null",
        assertThrows(NullPointerException.class, () -> new LockName(null)).getMessage());
  }

  @Test
  void theDerivedKeysAreThoseOfTheWire() {
    assertEquals("redisson_lock_token:{orders}", new LockName("orders").tokenKey());
    assertEquals("mortise_forced:{orders}", new LockName("orders").forcedKey());
    assertEquals("redisson_lock_token:{shop}orders", new LockName("{shop}orders").tokenKey());
    assertEquals("mortise_forced:{shop}orders", new LockName("{shop}orders").forcedKey());
  }

  @Test
  void theNameStaysAsItWasGiven() {
    assertEquals(" orders ", new LockName(" orders ").value());
    assertEquals("orders", new LockName("orders").toString());
  }

  /** Redis would have a question mark there: another name may be the same, and so its messages. */
  @Test
  void halfOfASurrogatePairIsRefused() {
    for (String cut : List.of("orders\ud83d", "\ude00\ud83d", "\ude00 orders")) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> new LockName(cut));
      assertTrue(refused.getMessage().contains("surrogate pair"), refused::getMessage);
    }
  }

  @Test
  void aWholeSurrogatePairIsAName() {
    assertEquals("\ud83d\ude00", new LockName("\ud83d\ude00").value());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t\n", "\u2003"})
  void aBlankNameIsRefused(String blank) {
    assertEquals(
        "a lock needs a name that is not blank",
        assertThrows(IllegalArgumentException.class, () -> new LockName(blank)).getMessage());
  }

  /** Redis would hash such a key whole, and so each of the lock's keys to another slot. */
  @ParameterizedTest
  @ValueSource(strings = {"orders{", "a{b", "a{}b", "{}", "{", "}{", "a{}{b}", "order:{}"})
  void anOpeningBraceThatMakesNoHashTagIsRefused(String name) {
    assertEquals(
        "lock name '"
            + name
            + "' has a '{' that makes no hash tag, so its keys would sit in different slots of a"
            + " cluster; close it with a '}' and something in between, or leave it out",
        assertThrows(IllegalArgumentException.class, () -> new LockName(name)).getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"orders", "order:42", "{shop}orders", "a}b{42}", "{{42}", "{42}{", "größe"})
  void allKeysOfALockShareItsSlot(String name) {
    LockName lock = new LockName(name);
    int slot = JedisClusterCRC16.getSlot(name);

    assertEquals(slot, JedisClusterCRC16.getSlot(lock.tokenKey()));
    assertEquals(slot, JedisClusterCRC16.getSlot(lock.forcedKey()));
    assertEquals(slot, JedisClusterCRC16.getSlot(lock.derive("redisson_lock__channel") + ":id:7"));
  }

  @Test
  void aNameHasAtMost1024Characters() {
    assertEquals(1024, new LockName("n".repeat(1024)).value().length());
    assertEquals(
        "a lock's name has at most 1024 characters, not 1025",
        assertThrows(IllegalArgumentException.class, () -> new LockName("n".repeat(1025)))
            .getMessage());
  }
}
