package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One fault, at one time, at some clients or servers.
 *
 * @param atMillis since the start of its round
 * @param durationMillis how long it lasts
 * @param targets the indexes of clients or servers
 * @param variant a number from 0, by which a fault that has several forms chooses
 */
record FaultEvent(
    Fault fault, long atMillis, long durationMillis, List<Integer> targets, int variant) {

  /** Returns a random event of that fault that begins at that time. */
  static FaultEvent at(
      long millis, Fault fault, TestedLock tested, Settings settings, Random random) {
    long lease = settings.lease().toMillis();
    int percent = fault.minPercent() + random.nextInt(fault.maxPercent() - fault.minPercent() + 1);
    return new FaultEvent(
        fault,
        millis,
        lease * percent / 100,
        targets(fault, tested.family(), settings.clients(), random),
        random.nextInt(1000));
  }

  /**
   * Chooses one client; or any servers, but of a quorum at most a minority loses its data: nothing
   * is promised when a majority does.
   */
  private static List<Integer> targets(Fault fault, Family family, int clients, Random random) {
    return switch (fault.target()) {
      case NONE -> List.of();
      case DIRECTORY -> List.of(0);
      case CLIENT -> List.of(random.nextInt(clients));
      case SERVER -> {
        int count = family.serverCount();
        int max = family.isQuorum() && fault.losesData() ? (count - 1) / 2 : count;
        List<Integer> all = new ArrayList<>(IntStream.range(0, count).boxed().toList());
        Collections.shuffle(all, random);
        yield List.copyOf(all.subList(0, 1 + random.nextInt(max)));
      }
    };
  }

  long endMillis() {
    return atMillis + durationMillis;
  }

  @Override
  public String toString() {
    return "%5d ms +%d ms %s%s".formatted(atMillis, durationMillis, fault, targets);
  }
}
