package io.mortise.it.chaos;

import io.mortise.it.chaos.Fault.Victim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * A time in which all clients contend for one name of its own, and what befalls them meanwhile. So
 * whatever is found on that name, this has done it.
 *
 * @param name of the lock
 * @param label the fault, or the kind of mixture
 * @param mayOverlap whether a fault takes data from a server, so that exclusion is not promised
 * @param strikes in the order of time
 */
record Round(
    String name, String label, boolean mayOverlap, ThinkTime pace, List<FaultEvent> strikes) {
  static final String MIXTURE = "mixture, no data lost";
  static final String WORST = "mixture of all";

  private static final long SHORTEST_GAP_MILLIS = 100;
  private static final int GAP_MILLIS = 400;

  /** Of one kind of fault. */
  static Round of(Fault fault, TestedLock subject, Settings settings, Random random) {
    return of(fault.name(), fault.losesData(), List.of(fault), subject, settings, random);
  }

  /** Of several kinds, of which those that befall clients and those of servers coincide. */
  static Round of(
      String label,
      boolean mayOverlap,
      List<Fault> faults,
      TestedLock subject,
      Settings settings,
      Random random) {
    List<FaultEvent> strikes = new ArrayList<>();
    for (Victim victim : Victim.values()) {
      List<Fault> ours = faults.stream().filter(fault -> fault.victim() == victim).toList();
      if (!ours.isEmpty()) {
        strikes.addAll(track(ours, subject, settings, random));
      }
    }
    strikes.sort(Comparator.comparingLong(FaultEvent::atMillis));
    ThinkTime pace = faults.size() == 1 ? faults.get(0).pace() : ThinkTime.SLOW;
    String name = "chaos:%s:%s".formatted(subject, label.replaceAll("\\W+", "-"));
    return new Round(name, label, mayOverlap, pace, List.copyOf(strikes));
  }

  /** One after the other. */
  private static List<FaultEvent> track(
      List<Fault> faults, TestedLock subject, Settings settings, Random random) {
    List<FaultEvent> strikes = new ArrayList<>();
    long millis = gap(random);
    do {
      Fault fault = faults.get(random.nextInt(faults.size()));
      FaultEvent strike = FaultEvent.at(millis, fault, subject, settings, random);
      strikes.add(strike);
      millis = strike.endMillis() + gap(random);
    } while (millis < settings.roundMillis());
    return strikes;
  }

  private static long gap(Random random) {
    return SHORTEST_GAP_MILLIS + random.nextInt(GAP_MILLIS);
  }
}
