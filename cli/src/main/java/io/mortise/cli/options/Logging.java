package io.mortise.cli.options;

/** The log of the locks, which the commands show on standard error. */
public final class Logging {
  /** The launcher sets it, which starts a process for one command. */
  private static final String LAUNCHER_PROPERTY = "mortise.root";

  private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  private Logging() {}

  /**
   * Silences the log, for a command whose output says the same. Is called before the first client
   * is created. Does nothing in a process that does more than this command, and if the user has set
   * a level.
   */
  public static void silence() {
    if (System.getProperty(LAUNCHER_PROPERTY) != null && System.getProperty(LEVEL) == null) {
      System.setProperty(LEVEL, "off");
    }
  }
}
