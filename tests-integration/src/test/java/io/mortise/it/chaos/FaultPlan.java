package io.mortise.it.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/** The rounds of each tested lock: a function of the settings, the seed among them, alone. */
record FaultPlan(Map<TestedLock, List<Round>> rounds) {
  /** The number of faults for a lock, in a run in which the locks share them. */
  private static final int SHARED_FAULTS = 4;

  static FaultPlan of(Settings settings) {
    Random random = new Random(settings.seed());
    Deque<Fault> queue = new ArrayDeque<>();
    Map<TestedLock, List<Round>> rounds = new LinkedHashMap<>();
    for (TestedLock tested : settings.locks()) {
      List<Fault> possible = possible(tested, settings);
      List<Fault> faults = settings.everyFault() ? possible : shared(possible, queue, random);
      rounds.put(tested, rounds(tested, faults, possible, settings, new Random(random.nextLong())));
    }
    return new FaultPlan(rounds);
  }

  /** A short run has no time for a default lease whose holder was killed. */
  private static List<Fault> possible(TestedLock tested, Settings settings) {
    boolean killed = settings.everyFault() || tested.options() != ClientOptions.DEFAULTS;
    return Arrays.stream(Fault.values())
        .filter(settings.faults()::contains)
        .filter(fault -> fault.appliesTo(tested.topology()) && fault.isPossibleHere())
        .filter(fault -> killed || fault != Fault.CLIENT_KILLED)
        .toList();
  }

  /** Takes faults from a queue, to which each fault is added when none in it is possible. */
  private static List<Fault> shared(List<Fault> possible, Deque<Fault> queue, Random random) {
    List<Fault> chosen = new ArrayList<>();
    possible.stream() // the reason why this topology is tested
        .filter(fault -> !fault.appliesTo(ServerTopology.STANDALONE))
        .forEach(chosen::add);
    while (chosen.size() < SHARED_FAULTS) {
      Fault next =
          queue.stream()
              .filter(fault -> possible.contains(fault) && !chosen.contains(fault))
              .findFirst()
              .orElse(null);
      if (next == null) {
        List<Fault> all = new ArrayList<>(List.of(Fault.values()));
        Collections.shuffle(all, random);
        queue.addAll(all);
      } else {
        queue.removeFirstOccurrence(next);
        chosen.add(next);
      }
    }
    return chosen;
  }

  private static List<Round> rounds(
      TestedLock tested,
      List<Fault> faults,
      List<Fault> possible,
      Settings settings,
      Random random) {
    List<Round> rounds = new ArrayList<>();
    for (Fault fault : faults) {
      rounds.add(Round.of(fault, tested, settings, random));
    }
    List<Fault> all = possible.stream().filter(fault -> fault != Fault.CALM).toList();
    List<Fault> safe = all.stream().filter(fault -> !fault.takesHolds()).toList();
    rounds.add(Round.of(Round.MIXTURE, false, safe, tested, settings, random));
    if (settings.everyFault()) {
      List<Fault> mixing = all.stream().filter(Fault::mixesWithLossOfData).toList();
      rounds.add(Round.of(Round.MIXTURE_OF_ALL, true, mixing, tested, settings, random));
    }
    return List.copyOf(rounds);
  }

  @Override
  public String toString() {
    return rounds.entrySet().stream()
        .map(each -> each.getKey() + describe(each.getValue()))
        .collect(Collectors.joining("\n"));
  }

  private static String describe(List<Round> rounds) {
    return rounds.stream()
        .map(
            round ->
                round.events().stream()
                    .map(FaultEvent::toString)
                    .collect(Collectors.joining("\n    ", "\n  " + round.label() + "\n    ", "")))
        .collect(Collectors.joining());
  }
}
