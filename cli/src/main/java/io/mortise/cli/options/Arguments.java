package io.mortise.cli.options;

import java.nio.charset.Charset;

/** The check of the arguments that the shell has passed to this program. */
public final class Arguments {
  /** How Java reads arguments, and passes them on. */
  private static final String ENCODING_PROPERTY = "sun.jnu.encoding";

  /** Stands for bytes that the charset does not have. */
  private static final char UNREADABLE = '\uFFFD';

  private Arguments() {}

  /**
   * Checks that the arguments arrive as they were written. In the locale C or POSIX, which cron
   * has, Java reads other bytes than those of ASCII as one character, and passes a question mark
   * on: two names would be one.
   *
   * @param status the status of the failure
   * @throws CommandFailure if one does not
   */
  public static void check(String[] arguments, int status) {
    String name = System.getProperty(ENCODING_PROPERTY, "");
    Charset charset = Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    for (String argument : arguments) {
      if (argument.indexOf(UNREADABLE) >= 0
          || (charset.canEncode() && !charset.newEncoder().canEncode(argument))) {
        throw new CommandFailure(
            status,
            "an argument has characters that the locale, with the charset %s, cannot express; set LC_ALL=C.UTF-8"
                .formatted(charset),
            null);
      }
    }
  }
}
