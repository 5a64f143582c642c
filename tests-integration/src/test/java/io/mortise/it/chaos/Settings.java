package io.mortise.it.chaos;

import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings of a run.
 *
 * @param seed decides which fault strikes which target at which time
 * @param locks what is tested
 * @param faults those that may strike
 * @param everyFault whether each lock meets each fault, or all locks share the faults
 * @param roundMillis how long a round lasts at least; 0 for one event
 * @param parallel how many locks are tested at a time
 * @param clients the number of processes for each lock
 * @param threads the number of threads in each process
 */
record Settings(
    long seed,
    List<TestedLock> locks,
    List<Fault> faults,
    boolean everyFault,
    long roundMillis,
    int parallel,
    int clients,
    int threads) {
  private static final String PREFIX = "mortise.chaos";

  private static final List<Fault> USUAL_FAULTS =
      Stream.of(Fault.values()).filter(Fault::isUsual).toList();
  private static final int PARALLEL = 4;
  private static final int THREADS = 3;
  private static final long MINUTES = 18;

  /** Returns the lease of all holds, except those that default options renew; the unit of plans. */
  Duration lease() {
    return Duration.ofMillis(1500);
  }

  /** Returns {@link io.mortise.core.LockTuning#maxHandOffs} of the clients. */
  int maxHandOffs() {
    return Integer.getInteger(
        PREFIX + ".maxHandOffs", LockOptions.defaults().tuning().maxHandOffs());
  }

  /**
   * A run for each build: all locks at a time, but behind sentinels the plain one alone, and on a
   * cluster that with readers.
   */
  static Settings shortRun(long seed) {
    List<TestedLock> locks = TestedLock.all().stream().filter(Settings::isInShortRun).toList();
    return new Settings(
        seed,
        TestedLock.withDefaultsForAThird(locks, seed),
        USUAL_FAULTS,
        false,
        0,
        locks.size(),
        2,
        THREADS);
  }

  private static boolean isInShortRun(TestedLock tested) {
    return switch (tested.topology()) {
      case STANDALONE -> true;
      case SENTINEL -> tested.family() == Family.PLAIN;
      case CLUSTER -> tested.family() == Family.READ_WRITE;
    };
  }

  /**
   * A run in which nothing may grow: all locks at a time, with default options. Its rounds are so
   * long that there are enough samples, and not too many.
   */
  static Settings soak(long seed, Duration time) {
    List<TestedLock> locks =
        TestedLock.all().stream()
            .filter(each -> each.topology() == ServerTopology.STANDALONE)
            .filter(each -> each.family() != Family.RED_5) // it differs from RED_3 in a number
            .map(TestedLock::withDefaults)
            .toList();
    long roundMillis = Math.max(1_000, Math.min(20_000, time.toMillis() / 40));
    return new Settings(seed, locks, USUAL_FAULTS, false, roundMillis, locks.size(), 2, THREADS);
  }

  /** A run that takes about that time. */
  static Settings longRun(long seed, Duration time, List<TestedLock> locks) {
    return longRun(seed, time, locks, USUAL_FAULTS);
  }

  private static Settings longRun(
      long seed, Duration time, List<TestedLock> locks, List<Fault> faults) {
    int waves = (locks.size() + PARALLEL - 1) / PARALLEL;
    long rounds = faults.size() + 2L;
    long roundMillis = time.toMillis() / waves / rounds;
    int threads = Integer.getInteger(PREFIX + ".threads", THREADS);
    return new Settings(seed, locks, faults, true, roundMillis, PARALLEL, 3, threads);
  }

  /**
   * Returns the settings of the system properties: {@code mortise.chaos} is {@code short} or {@code
   * long}; {@code mortise.chaos.seed}; {@code mortise.chaos.maxHandOffs}; for a long run {@code
   * mortise.chaos.minutes}, {@code mortise.chaos.threads}, {@code mortise.chaos.faults}, such as
   * {@code HEAP_FULL,CUT}, and {@code mortise.chaos.locks}, such as {@code
   * PLAIN,FAIR@SENTINEL+DEFAULTS}; without the last one all locks, a third of them with default
   * options.
   */
  static Settings fromProperties() {
    long seed = Long.getLong(PREFIX + ".seed", System.nanoTime() & Integer.MAX_VALUE);
    String kind = System.getProperty(PREFIX, "short");
    return switch (kind) {
      case "short" -> shortRun(seed);
      case "long" ->
          longRun(
              seed,
              Duration.ofMinutes(Long.getLong(PREFIX + ".minutes", MINUTES)),
              locks(System.getProperty(PREFIX + ".locks", ""), seed),
              faults(System.getProperty(PREFIX + ".faults", "")));
      default ->
          throw new IllegalArgumentException("%s is short or long, not %s".formatted(PREFIX, kind));
    };
  }

  private static List<Fault> faults(String names) {
    return names.isEmpty()
        ? USUAL_FAULTS
        : Stream.of(names.split(",", -1)).map(Fault::valueOf).toList();
  }

  private static List<TestedLock> locks(String names, long seed) {
    if (names.isEmpty()) {
      return TestedLock.withDefaultsForAThird(TestedLock.all(), seed);
    }
    List<String> wanted = List.of(names.split(",", -1));
    List<TestedLock> locks =
        TestedLock.all().stream()
            .flatMap(each -> Stream.of(each, each.withDefaults()))
            .filter(each -> wanted.contains(each.toString()))
            .toList();
    if (locks.size() != wanted.size()) {
      throw new IllegalArgumentException("of '%s' these are known: %s".formatted(names, locks));
    }
    return locks;
  }

  /** Returns the command that repeats the plan of this run. */
  String command() {
    String repeat =
        "./mvnw verify -pl tests-integration -am -Dtest=ChaosTest"
            + " -Dsurefire.failIfNoSpecifiedTests=false -D%1$s=%2$s -D%1$s.seed=%3$d -D%1$s.maxHandOffs=%4$d"
                .formatted(PREFIX, everyFault ? "long" : "short", seed, maxHandOffs());
    return everyFault
        ? repeat
            + " -D%1$s.minutes=%2$d -D%1$s.threads=%3$d -D%1$s.locks=%4$s%5$s"
                .formatted(
                    PREFIX,
                    Long.getLong(PREFIX + ".minutes", MINUTES),
                    threads,
                    locks.stream().map(TestedLock::toString).collect(Collectors.joining(",")),
                    faults.equals(USUAL_FAULTS)
                        ? ""
                        : faults.stream()
                            .map(Fault::name)
                            .collect(Collectors.joining(",", " -D" + PREFIX + ".faults=", "")))
        : repeat;
  }
}
