package io.mortise.cli.run;

/** The signals that are passed on, and those that end a command. */
enum ProcessSignal {
  HUP(1),
  INT(2),
  KILL(9),
  TERM(15),
  /** Lets a stopped process run, so that it receives TERM; its number depends on the system. */
  CONT(0);

  private final int number;

  ProcessSignal(int number) {
    this.number = number;
  }

  /** Returns the number that POSIX gives the signal. */
  int number() {
    return number;
  }
}
