package io.mortise.testkit.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.Varargs;

/**
 * Lua's {@code string.format}, with the precision that C gives a number.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class LuaFormat {
  private static final Pattern DIRECTIVE =
      Pattern.compile("%([-+ #0]*\\d*(?:\\.\\d+)?)([a-zA-Z%])");

  private LuaFormat() {}

  static Varargs format(Varargs args) {
    String format = args.checkjstring(1);
    StringBuilder text = new StringBuilder();
    Matcher directive = DIRECTIVE.matcher(format);
    int end = 0;
    int next = 2;
    while (directive.find()) {
      text.append(format.substring(end, directive.start()));
      end = directive.end();
      String flags = "%" + directive.group(1);
      String conversion = directive.group(2);
      text.append(
          switch (conversion) {
            case "%" -> "%";
            case "d", "i" -> text(flags + "d", (long) args.checkdouble(next++));
            case "f" -> text(flags + "f", args.checkdouble(next++));
            case "x", "X" -> text(flags + conversion, (long) args.checkdouble(next++));
            case "s" -> text(flags + "s", args.arg(next++).tojstring());
            default -> throw new LuaError("invalid option '%" + conversion + "' to 'format'");
          });
    }
    text.append(format.substring(end));
    return LuaString.valueOf(text.toString().getBytes(ISO_8859_1));
  }

  private static String text(String directive, Object value) {
    return String.format(Locale.ROOT, directive, value);
  }
}
