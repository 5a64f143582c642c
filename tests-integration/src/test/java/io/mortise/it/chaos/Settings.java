package io.mortise.it.chaos;

import java.time.Duration;
import java.util.List;

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
    List<Subject> subjects,
    boolean everyFault,
    long roundMillis,
    int parallel,
    int clients,
    int threads) {
  private static final String PREFIX = "mortise.chaos";

  /** About {@code ./mvnw verify}: which subjects stand for their deployment in a short run. */
  private static final List<Subject> OFTEN =
      Subject.all().stream()
          .filter(each -> each.topology() == Topology.STANDALONE || each.family() == Family.PLAIN)
          .toList();

  /** The lease of all holds, whether it is renewed or not. */
  Duration lease() {
    return Duration.ofMillis(1500);
  }

  /** A run for each build. */
  static Settings brief(long seed) {
    return new Settings(seed, OFTEN, false, 0, OFTEN.size(), 2, 3);
  }

  /** A run that takes about so long. */
  static Settings thorough(long seed, Duration time) {
    List<Subject> subjects = Subject.all();
    int parallel = 4;
    int waves = (subjects.size() + parallel - 1) / parallel;
    long rounds = Fault.values().length + 2L;
    return new Settings(seed, subjects, true, time.toMillis() / waves / rounds, parallel, 3, 3);
  }

  /**
   * As the system properties say: {@code mortise.chaos} is {@code short} or {@code long}; {@code
   * mortise.chaos.seed}; {@code mortise.chaos.minutes} for a long one.
   */
  static Settings fromProperties() {
    long seed = Long.getLong(PREFIX + ".seed", System.nanoTime() & Integer.MAX_VALUE);
    String kind = System.getProperty(PREFIX, "short");
    return switch (kind) {
      case "short" -> brief(seed);
      case "long" -> thorough(seed, Duration.ofMinutes(Long.getLong(PREFIX + ".minutes", 18)));
      default ->
          throw new IllegalArgumentException("%s is short or long, not %s".formatted(PREFIX, kind));
    };
  }

  /** What repeats the plan of this run. */
  String command() {
    return "./mvnw verify -pl tests-integration -am -Dtest=ChaosTest"
        + " -Dsurefire.failIfNoSpecifiedTests=false -D%s=%s -D%s.seed=%d%s"
            .formatted(
                PREFIX,
                everyFault ? "long" : "short",
                PREFIX,
                seed,
                everyFault
                    ? " -D%s.minutes=%s"
                        .formatted(PREFIX, System.getProperty(PREFIX + ".minutes", "18"))
                    : "");
  }
}
