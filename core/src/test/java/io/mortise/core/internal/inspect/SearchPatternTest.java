package io.mortise.core.internal.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Names and patterns as Redis reads them (stringmatchlen in its util.c). */
class SearchPatternTest {
  @Test
  void aNamespaceMatchesItselfAlone() {
    assertEquals("a\\*b\\?c\\[d]e\\\\f:st*", LockSearch.pattern("a*b?c[d]e\\f:", "st*"));
    assertEquals("orders:{42}", LockSearch.pattern("orders:{42}", ""));
  }

  @Test
  void aTextWithASpecialCharacterIsAPattern() {
    assertTrue(LockSearch.isPattern("orders:*"));
    assertTrue(LockSearch.isPattern("orders:4?"));
    assertTrue(LockSearch.isPattern("orders:[42]"));
    assertTrue(LockSearch.isPattern("orders:\\*"));
    assertFalse(LockSearch.isPattern("orders:{42}"));
  }
}
