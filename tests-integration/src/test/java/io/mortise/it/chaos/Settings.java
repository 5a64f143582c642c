package io.mortise.it.chaos;

import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How a run is made.
 *
 * @param seed decides what befalls whom, when
 * @param subjects what is put to the proof
 * @param everyFault whether each subject meets each fault, or all of them share the faults
 * @param roundMillis how long a round lasts at least; 0 for one strike
 * @param parallel how many subjects at a time
 * @param clients processes of a subject
 * @param threads of a process
 */
record Settings(
    long seed,
    List<TestedLock> subjects,
    boolean everyFault,
    long roundMillis,
    int parallel,
    int clients,
    int threads) {
  private static final String PREFIX = "mortise.chaos";

  private static final int PARALLEL = 4;
  private static final int THREADS = 3;
  private static final long MINUTES = 18;

  /** The lease of all holds, whether it is renewed or not. */
  Duration lease() {
    return Duration.ofMillis(1500);
  }

  /** How often a hold may pass from thread to thread of a process. */
  int handOvers() {
    return Integer.getInteger(PREFIX + ".handOvers", LockOptions.defaults().maxHandOffs());
  }

  /** A run for each build: all at the same time, and of those on a watched master one. */
  static Settings brief(long seed) {
    List<TestedLock> subjects =
        TestedLock.all().stream()
            .filter(each -> each.topology() == Topology.STANDALONE || each.family() == Family.PLAIN)
            .toList();
    return new Settings(seed, subjects, false, 0, subjects.size(), 2, 3);
  }

  /** A run that takes about so long. */
  static Settings thorough(long seed, Duration time, List<TestedLock> subjects) {
    int waves = (subjects.size() + PARALLEL - 1) / PARALLEL;
    long rounds = Fault.values().length + 2L;
    int threads = Integer.getInteger(PREFIX + ".threads", THREADS);
    return new Settings(
        seed, subjects, true, time.toMillis() / waves / rounds, PARALLEL, 3, threads);
  }

  /**
   * As the system properties say: {@code mortise.chaos} is {@code short} or {@code long}; {@code
   * mortise.chaos.seed}; {@code mortise.chaos.handOvers}; for a long one {@code
   * mortise.chaos.minutes}, {@code mortise.chaos.threads} and {@code mortise.chaos.subjects}, such
   * as {@code PLAIN,FAIR@SENTINEL}.
   */
  static Settings fromProperties() {
    long seed = Long.getLong(PREFIX + ".seed", System.nanoTime() & Integer.MAX_VALUE);
    String kind = System.getProperty(PREFIX, "short");
    return switch (kind) {
      case "short" -> brief(seed);
      case "long" ->
          thorough(
              seed,
              Duration.ofMinutes(Long.getLong(PREFIX + ".minutes", MINUTES)),
              chosen(System.getProperty(PREFIX + ".subjects", "")));
      default ->
          throw new IllegalArgumentException("%s is short or long, not %s".formatted(PREFIX, kind));
    };
  }

  private static List<TestedLock> chosen(String names) {
    if (names.isEmpty()) {
      return TestedLock.all();
    }
    List<String> wanted = List.of(names.split(",", -1));
    List<TestedLock> chosen =
        TestedLock.all().stream().filter(each -> wanted.contains(each.toString())).toList();
    if (chosen.size() != wanted.size()) {
      throw new IllegalArgumentException("of '%s' these are known: %s".formatted(names, chosen));
    }
    return chosen;
  }

  /** What repeats the plan of this run. */
  String command() {
    String repeat =
        "./mvnw verify -pl tests-integration -am -Dtest=ChaosTest"
            + " -Dsurefire.failIfNoSpecifiedTests=false -D%s=%s -D%s.seed=%d -D%s.handOvers=%d"
                .formatted(
                    PREFIX, everyFault ? "long" : "short", PREFIX, seed, PREFIX, handOvers());
    return everyFault
        ? repeat
            + " -D%s.minutes=%d -D%s.threads=%d -D%s.subjects=%s"
                .formatted(
                    PREFIX,
                    Long.getLong(PREFIX + ".minutes", MINUTES),
                    PREFIX,
                    threads,
                    PREFIX,
                    subjects.stream().map(TestedLock::toString).collect(Collectors.joining(",")))
        : repeat;
  }
}
