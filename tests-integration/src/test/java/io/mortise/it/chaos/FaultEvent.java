package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * One fault, at a time, at some clients or servers.
 *
 * @param atMillis since the start of its round
 * @param forMillis how long it lasts
 * @param victims places of clients or servers
 * @param variant a number from 0, by which a fault that has several forms chooses
 */
record FaultEvent(Fault fault, long atMillis, long forMillis, List<Integer> victims, int variant) {

  /** One at random that begins then. */
  static FaultEvent at(
      long millis, Fault fault, TestedLock subject, Settings settings, Random random) {
    long lease = settings.lease().toMillis();
    int percent =
        fault.leastPercent() + random.nextInt(fault.mostPercent() - fault.leastPercent() + 1);
    return new FaultEvent(
        fault,
        millis,
        lease * percent / 100,
        victims(fault, subject.family(), settings.clients(), random),
        random.nextInt(1000));
  }

  /**
   * One client; any servers, but of a quorum no more than a minority is robbed of its data: with a
   * majority there is nothing to be expected.
   */
  private static List<Integer> victims(Fault fault, Family family, int clients, Random random) {
    return switch (fault.victim()) {
      case NOBODY -> List.of();
      case CLIENT -> List.of(random.nextInt(clients));
      case SERVER -> {
        int most =
            family.isQuorum() && fault.losesData() ? (family.servers() - 1) / 2 : family.servers();
        List<Integer> all = new ArrayList<>(IntStream.range(0, family.servers()).boxed().toList());
        Collections.shuffle(all, random);
        yield List.copyOf(all.subList(0, 1 + random.nextInt(most)));
      }
    };
  }

  long endMillis() {
    return atMillis + forMillis;
  }

  @Override
  public String toString() {
    return "%5d ms +%d ms %s%s".formatted(atMillis, forMillis, fault, victims);
  }
}
