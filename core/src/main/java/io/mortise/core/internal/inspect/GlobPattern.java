package io.mortise.core.internal.inspect;

import java.util.regex.Pattern;

/**
 * Patterns of key names as Redis reads them: {@code *}, {@code ?}, {@code [a-c]}, {@code [^a]}, and
 * {@code \} before a character that stands for itself.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class GlobPattern {
  private static final String SPECIAL = "*?[\\";

  private GlobPattern() {}

  /** Returns whether a text has a character that makes it a pattern. */
  static boolean isPattern(String text) {
    return text.chars().anyMatch(c -> SPECIAL.indexOf(c) >= 0);
  }

  /** Returns the pattern that matches exactly the text. */
  static String quote(String text) {
    return text.replaceAll("[*?\\[\\]\\\\]", "\\\\$0");
  }

  /** Returns the regular expression of a pattern. A bracket that is not closed ends at the end. */
  static Pattern compile(String glob) {
    StringBuilder regex = new StringBuilder();
    int at = 0;
    while (at < glob.length()) {
      char c = glob.charAt(at);
      if (c == '[') {
        at = appendClass(glob, at + 1, regex);
      } else if (c == '\\' && at + 1 < glob.length()) {
        regex.append(Pattern.quote(glob.substring(at + 1, at + 2)));
        at += 2;
      } else {
        regex.append(c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(String.valueOf(c)));
        at++;
      }
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  /** Appends what is between brackets; returns where the pattern goes on. */
  private static int appendClass(String glob, int from, StringBuilder regex) {
    int at = from;
    regex.append('[');
    if (at < glob.length() && glob.charAt(at) == '^') {
      regex.append('^');
      at++;
    }
    StringBuilder members = new StringBuilder();
    while (at < glob.length() && glob.charAt(at) != ']') {
      if (glob.charAt(at) == '\\' && at + 1 < glob.length()) {
        at++;
      }
      boolean range =
          at + 2 < glob.length() && glob.charAt(at + 1) == '-' && glob.charAt(at + 2) != ']';
      if (range) {
        char first = (char) Math.min(glob.charAt(at), glob.charAt(at + 2));
        char last = (char) Math.max(glob.charAt(at), glob.charAt(at + 2));
        members.append(member(first)).append('-').append(member(last));
        at += 3;
      } else {
        members.append(member(glob.charAt(at)));
        at++;
      }
    }
    if (members.isEmpty()) { // matches nothing, and negated everything
      boolean negated = regex.charAt(regex.length() - 1) == '^';
      regex.setLength(regex.length() - (negated ? 2 : 1));
      regex.append(negated ? "." : "(?!)");
    } else {
      regex.append(members).append(']');
    }
    return at + 1;
  }

  private static String member(char c) {
    return "\\x{" + Integer.toHexString(c) + "}";
  }
}
