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

/**
 * For each subject its rounds: a function of the settings, which have the seed, and of nothing
 * else.
 */
record FaultPlan(Map<TestedLock, List<Round>> rounds) {
  /** How many faults a subject meets in a run in which the subjects share them. */
  private static final int SHARE = 4;

  static FaultPlan of(Settings settings) {
    Random dealer = new Random(settings.seed());
    Deque<Fault> pack = new ArrayDeque<>();
    Map<TestedLock, List<Round>> rounds = new LinkedHashMap<>();
    for (TestedLock subject : settings.subjects()) {
      List<Fault> faults = settings.everyFault() ? possible(subject) : deal(subject, pack, dealer);
      rounds.put(subject, rounds(subject, faults, settings, new Random(dealer.nextLong())));
    }
    return new FaultPlan(rounds);
  }

  private static List<Fault> possible(TestedLock subject) {
    return Arrays.stream(Fault.values())
        .filter(fault -> fault.befalls(subject.topology()))
        .toList();
  }

  /** From a pack that has each fault once, and is made anew when nothing in it fits. */
  private static List<Fault> deal(TestedLock subject, Deque<Fault> pack, Random dealer) {
    List<Fault> possible = possible(subject);
    List<Fault> dealt = new ArrayList<>();
    if (possible.contains(Fault.PROMOTED)) {
      dealt.add(Fault.PROMOTED); // what this deployment is here for
    }
    while (dealt.size() < SHARE) {
      Fault next =
          pack.stream()
              .filter(fault -> possible.contains(fault) && !dealt.contains(fault))
              .findFirst()
              .orElse(null);
      if (next == null) {
        List<Fault> fresh = new ArrayList<>(List.of(Fault.values()));
        Collections.shuffle(fresh, dealer);
        pack.addAll(fresh);
      } else {
        pack.removeFirstOccurrence(next);
        dealt.add(next);
      }
    }
    return dealt;
  }

  private static List<Round> rounds(
      TestedLock subject, List<Fault> faults, Settings settings, Random random) {
    List<Round> rounds = new ArrayList<>();
    for (Fault fault : faults) {
      rounds.add(Round.of(fault, subject, settings, random));
    }
    List<Fault> all = possible(subject).stream().filter(fault -> fault != Fault.CALM).toList();
    List<Fault> safe = all.stream().filter(fault -> !fault.losesData()).toList();
    rounds.add(Round.of(Round.MIXTURE, false, safe, subject, settings, random));
    if (settings.everyFault()) {
      rounds.add(Round.of(Round.WORST, true, all, subject, settings, random));
    }
    return List.copyOf(rounds);
  }

  @Override
  public String toString() {
    return rounds.entrySet().stream()
        .map(
            each ->
                each.getKey()
                    + each.getValue().stream()
                        .map(
                            round ->
                                "%n  %s%n    ".formatted(round.label())
                                    + round.strikes().stream()
                                        .map(FaultEvent::toString)
                                        .collect(Collectors.joining("\n    ")))
                        .collect(Collectors.joining()))
        .collect(Collectors.joining("\n"));
  }
}
