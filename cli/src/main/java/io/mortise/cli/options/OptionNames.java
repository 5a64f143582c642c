package io.mortise.cli.options;

/** The options of the command, in messages of the library, which name its own settings. */
public final class OptionNames {
  private OptionNames() {}

  /** Returns a message of the library, with the options of the command for its settings. */
  public static String in(String message) {
    return message
        .replace("LockOptions.commandTimeout", "--timeout")
        .replace("LockOptions.namespace", "--namespace")
        .replace(
            "use atLeast(lease), and release it early",
            "use --at-least with the same time, and let the command end before it");
  }

  /** The same for a message that begins with the setting that it refuses. */
  static String inRefusal(String message) {
    return message
        .replaceFirst("^commandTimeout\\b", "--timeout")
        .replaceFirst("^lease\\b", "--ttl");
  }
}
