package io.mortise.core.internal.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns as Redis reads them (stringmatchlen in its util.c). */
class GlobPatternTest {
  @ParameterizedTest
  @CsvSource({
    "*, anything, true",
    "orders:*, orders:42, true",
    "orders:*, order:42, false",
    "orders:?, orders:4, true",
    "orders:?, orders:42, false",
    "h[ae]llo, hello, true",
    "h[ae]llo, hillo, false",
    "h[^e]llo, hallo, true",
    "h[^e]llo, hello, false",
    "h[a-c]llo, hbllo, true",
    "h[c-a]llo, hbllo, true",
    "h[a-c]llo, hdllo, false",
    "a\\*b, a*b, true",
    "a\\*b, axb, false",
    "a[\\]]b, a]b, true",
    "a.b, axb, false",
    "a.b, a.b, true",
    "{x}:*, {x}:1, true",
    "a[bc, ab, true",
    "a(b, a(b, true",
  })
  void aPatternMatchesAsInRedis(String glob, String name, boolean matches) {
    assertEquals(matches, GlobPattern.compile(glob).matcher(name).matches());
  }

  @Test
  void aQuotedNameMatchesItselfAlone() {
    String name = "a*b?c[d]e\\f";

    assertTrue(GlobPattern.compile(GlobPattern.quote(name)).matcher(name).matches());
    assertFalse(GlobPattern.compile(GlobPattern.quote(name)).matcher("axbxcxdxexf").matches());
    assertTrue(GlobPattern.isPattern(name));
    assertFalse(GlobPattern.isPattern("orders:{42}"));
  }
}
