package io.mortise.scripts;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Assembles the text of a script: a line {@code -- @include common/token} is replaced by that file,
 * at most once in the whole text. Redis gets it without comments and indentation.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class ScriptText {
  private static final Pattern INCLUDE = Pattern.compile("-- @include (\\S+)");

  private ScriptText() {}

  static String assemble(String path, UnaryOperator<String> files) {
    StringBuilder text = new StringBuilder();
    append(path, files, new LinkedHashSet<>(), text);
    return text.toString();
  }

  /**
   * Returns the text with an empty line in the place of each line that is a comment, and without
   * indentation: the numbers of the lines stay, as Redis tells them in errors.
   */
  static String withoutComments(String text) {
    StringBuilder code = new StringBuilder();
    boolean inBlock = false;
    for (String line : text.lines().map(String::strip).toList()) {
      inBlock |= line.startsWith("--[[");
      code.append(inBlock || line.startsWith("--") ? "" : line).append('\n');
      inBlock &= !line.endsWith("]]");
    }
    return code.toString();
  }

  private static void append(
      String path, UnaryOperator<String> files, Set<String> seen, StringBuilder text) {
    if (!seen.add(path)) {
      return;
    }
    for (String line : files.apply(path).lines().toList()) {
      Matcher include = INCLUDE.matcher(line);
      if (include.matches()) {
        append(include.group(1), files, seen, text);
      } else {
        text.append(line).append('\n');
      }
    }
  }
}
