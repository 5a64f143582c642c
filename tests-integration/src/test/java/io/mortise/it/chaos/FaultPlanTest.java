package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.chaos.Fault.Target;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The seed alone decides which fault strikes which target at which time, within the rules. */
class FaultPlanTest {
  private static final int SEEDS = 50;

  @Test
  void aSeedDecidesThePlan() {
    FaultPlan plan = FaultPlan.of(Settings.shortRun(7));
    assertEquals(FaultPlan.of(Settings.shortRun(7)), plan);
    assertEquals(FaultPlan.of(Settings.shortRun(7)).toString(), plan.toString());
    assertNotEquals(FaultPlan.of(Settings.shortRun(8)), plan);
    assertEquals(FaultPlan.of(longRun(7)), FaultPlan.of(longRun(7)));
  }

  @Test
  void aShortRunHasAllFamiliesAndAllFaults() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Map<TestedLock, List<Round>> plan = FaultPlan.of(Settings.shortRun(seed)).rounds();
      assertEquals(
          Set.of(Family.values()),
          plan.keySet().stream().map(TestedLock::family).collect(Collectors.toSet()));
      assertHasAll(plan.values().stream().flatMap(List::stream), fault -> true);
    }
  }

  @Test
  void inALongRunEachLockMeetsEachFaultThatAppliesToIt() {
    FaultPlan.of(longRun(3))
        .rounds()
        .forEach(
            (tested, rounds) ->
                assertHasAll(rounds.stream(), fault -> fault.appliesTo(tested.topology())));
  }

  @Test
  void eventsOfOneKindOfTargetDoNotOverlap() {
    Stream.of(Settings.shortRun(1), longRun(1))
        .flatMap(settings -> FaultPlan.of(settings).rounds().values().stream())
        .flatMap(List::stream)
        .forEach(
            round -> {
              for (Target target : Target.values()) {
                long endMillis = 0;
                for (FaultEvent event : round.events()) {
                  if (event.fault().target() == target) {
                    assertTrue(event.atMillis() > endMillis, round::toString);
                    endMillis = event.endMillis();
                  }
                }
              }
            });
  }

  @Test
  void onlyRoundsThatMayOverlapLoseDataAndOfAQuorumAMinorityOnly() {
    FaultPlan.of(longRun(5))
        .rounds()
        .forEach((tested, rounds) -> rounds.forEach(round -> assertLossIsAllowed(tested, round)));
  }

  private static void assertLossIsAllowed(TestedLock tested, Round round) {
    for (FaultEvent event : round.events()) {
      if (event.fault().takesHolds()) {
        assertTrue(round.mayOverlap(), round::toString);
        assertTrue(
            !tested.family().isQuorum()
                || event.targets().size() * 2 < tested.family().serverCount(),
            round::toString);
      }
    }
  }

  @Test
  void noTwoRoundsOfALockShareAName() {
    for (List<Round> rounds : FaultPlan.of(longRun(5)).rounds().values()) {
      assertEquals(rounds.size(), rounds.stream().map(Round::name).distinct().count());
    }
  }

  private static Settings longRun(long seed) {
    return Settings.longRun(seed, Duration.ofMinutes(60), TestedLock.all());
  }

  private static void assertHasAll(Stream<Round> rounds, Predicate<Fault> wanted) {
    Set<Fault> missing = EnumSet.noneOf(Fault.class);
    Arrays.stream(Fault.values())
        .filter(fault -> fault.isUsual() && fault.isPossibleHere())
        .filter(wanted)
        .forEach(missing::add);
    rounds
        .flatMap(round -> round.events().stream())
        .map(FaultEvent::fault)
        .forEach(missing::remove);
    assertEquals(Set.of(), missing);
  }
}
