package io.mortise.it.chaos;

import io.mortise.it.chaos.Fault.Target;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * A period in which all clients contend for one name, which no other round uses, under faults of
 * this round. So these faults caused whatever is found on that name.
 *
 * @param name of the lock
 * @param label the fault, or the kind of mixture
 * @param mayOverlap whether a fault takes holds, so that exclusion is not promised
 * @param events in the order of time
 */
record Round(
    String name, String label, boolean mayOverlap, ThinkTime thinkTime, List<FaultEvent> events) {
  static final String MIXTURE = "mixture, no data lost";
  static final String MIXTURE_OF_ALL = "mixture of all";

  private static final long MIN_GAP_MILLIS = 100;
  private static final int GAP_RANGE_MILLIS = 400;

  /** Returns a round with one kind of fault. */
  static Round of(Fault fault, TestedLock tested, Settings settings, Random random) {
    return of(fault.name(), fault.takesHolds(), List.of(fault), tested, settings, random);
  }

  /** Returns a round with several kinds of faults; those of clients and of servers coincide. */
  static Round of(
      String label,
      boolean mayOverlap,
      List<Fault> faults,
      TestedLock tested,
      Settings settings,
      Random random) {
    List<FaultEvent> events = new ArrayList<>();
    for (Target target : Target.values()) {
      List<Fault> matching = faults.stream().filter(fault -> fault.target() == target).toList();
      if (!matching.isEmpty()) {
        events.addAll(sequence(matching, tested, settings, random));
      }
    }
    events.sort(Comparator.comparingLong(FaultEvent::atMillis));
    ThinkTime thinkTime = faults.size() == 1 ? faults.get(0).thinkTime() : ThinkTime.SLOW;
    String name = "chaos:%s:%s".formatted(tested, label.replaceAll("\\W+", "-"));
    return new Round(name, label, mayOverlap, thinkTime, List.copyOf(events));
  }

  /**
   * Returns whether a server loses data. Then clocks have to agree: a lock of several servers has
   * the token of the one that is ahead, and another one that begins again has its own clock only.
   */
  boolean losesData() {
    return events.stream().anyMatch(event -> event.fault().losesData());
  }

  /** Returns the same with other stays. */
  Round with(ThinkTime stays) {
    return new Round(name, label, mayOverlap, stays, events);
  }

  /** Returns events that do not overlap, with gaps between them. */
  private static List<FaultEvent> sequence(
      List<Fault> faults, TestedLock tested, Settings settings, Random random) {
    List<FaultEvent> events = new ArrayList<>();
    long millis = gap(random);
    do {
      Fault fault = faults.get(random.nextInt(faults.size()));
      FaultEvent event = FaultEvent.at(millis, fault, tested, settings, random);
      events.add(event);
      millis = event.endMillis() + gap(random);
    } while (millis < settings.roundMillis());
    return events;
  }

  private static long gap(Random random) {
    return MIN_GAP_MILLIS + random.nextInt(GAP_RANGE_MILLIS);
  }
}
