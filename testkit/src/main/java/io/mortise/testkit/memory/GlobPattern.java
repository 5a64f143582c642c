package io.mortise.testkit.memory;

import java.util.regex.Pattern;

/**
 * A pattern of keys as Redis reads it: {@code *}, {@code ?}, a class such as {@code [a-c]} or
 * {@code [^a]}, and {@code \} before a character that stands for itself.
 *
 * <p><b>Threads.</b> Confined to the thread that compiles.
 */
final class GlobPattern {
  private final String glob;
  private final StringBuilder regex = new StringBuilder();
  private int at;

  private GlobPattern(String glob) {
    this.glob = glob;
  }

  /** Returns the regular expression that matches the same keys. */
  static Pattern compile(String glob) {
    return new GlobPattern(glob).compile();
  }

  private Pattern compile() {
    while (at < glob.length()) {
      char next = glob.charAt(at++);
      switch (next) {
        case '*' -> regex.append(".*");
        case '?' -> regex.append('.');
        case '[' -> appendClass();
        case '\\' -> regex.append(literal(at < glob.length() ? glob.charAt(at++) : next));
        default -> regex.append(literal(next));
      }
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  /** A class that is not closed ends with the pattern; one without members matches nothing. */
  private void appendClass() {
    boolean negated = at < glob.length() && glob.charAt(at) == '^';
    if (negated) {
      at++;
    }
    StringBuilder members = new StringBuilder();
    while (at < glob.length() && glob.charAt(at) != ']') {
      appendMember(members);
    }
    at++;
    if (members.isEmpty()) {
      regex.append(negated ? "." : "(?!)");
    } else {
      regex.append(negated ? "[^" : "[").append(members).append(']');
    }
  }

  /** Appends a range, in either order, or one character. The end of a range may be any. */
  private void appendMember(StringBuilder members) {
    char first = glob.charAt(at++);
    int left = glob.length() - at;
    if (first == '\\' && left >= 1) {
      members.append(literal(glob.charAt(at++)));
    } else if (left >= 2 && glob.charAt(at) == '-') {
      char last = glob.charAt(at + 1);
      members
          .append(literal((char) Math.min(first, last)))
          .append('-')
          .append(literal((char) Math.max(first, last)));
      at += 2;
    } else {
      members.append(literal(first));
    }
  }

  private static String literal(char c) {
    return "\\x{" + Integer.toHexString(c) + "}";
  }
}
