package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.chaos.Fault.Victim;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What befalls whom, when, is decided by the seed alone, and is what it has to be. */
class FaultPlanTest {
  private static final int SEEDS = 50;

  @Test
  void aSeedDecidesThePlan() {
    assertEquals(FaultPlan.of(Settings.brief(7)), FaultPlan.of(Settings.brief(7)));
    assertEquals(
        FaultPlan.of(Settings.brief(7)).toString(), FaultPlan.of(Settings.brief(7)).toString());
    assertNotEquals(FaultPlan.of(Settings.brief(7)), FaultPlan.of(Settings.brief(8)));
    assertEquals(FaultPlan.of(thorough(7)), FaultPlan.of(thorough(7)));
  }

  @Test
  void aBriefRunHasAllFamiliesAndAllFaults() {
    LongStream.range(0, SEEDS)
        .mapToObj(seed -> FaultPlan.of(Settings.brief(seed)))
        .forEach(
            plan -> {
              assertEquals(
                  Set.of(Family.values()),
                  plan.rounds().keySet().stream()
                      .map(TestedLock::family)
                      .collect(Collectors.toSet()));
              assertEquals(
                  Set.of(),
                  missing(plan.rounds().values().stream().flatMap(List::stream), Fault.values()));
            });
  }

  @Test
  void inAThoroughRunEachSubjectMeetsEachFaultThatItCanHave() {
    FaultPlan plan = FaultPlan.of(thorough(3));
    plan.rounds()
        .forEach(
            (subject, rounds) ->
                assertEquals(
                    Set.of(),
                    missing(
                        rounds.stream(),
                        Arrays.stream(Fault.values())
                            .filter(fault -> fault.befalls(subject.topology()))
                            .toArray(Fault[]::new))));
  }

  @Test
  void strikesOfOneKindOfVictimFollowEachOther() {
    allRounds()
        .forEach(
            round -> {
              for (Victim victim : Victim.values()) {
                long free = 0;
                for (FaultEvent strike : round.strikes()) {
                  if (strike.fault().victim() == victim) {
                    assertTrue(strike.atMillis() > free, round::toString);
                    free = strike.endMillis();
                  }
                }
              }
            });
  }

  @Test
  void onlyRoundsThatMayOverlapLoseDataAndOfAQuorumAMinorityOnly() {
    FaultPlan.of(thorough(5))
        .rounds()
        .forEach(
            (subject, rounds) ->
                rounds.forEach(
                    round ->
                        round.strikes().stream()
                            .filter(strike -> strike.fault().losesData())
                            .forEach(
                                strike -> {
                                  assertTrue(round.mayOverlap(), round::toString);
                                  assertTrue(
                                      !subject.family().isQuorum()
                                          || strike.victims().size() * 2
                                              < subject.family().servers(),
                                      round::toString);
                                })));
  }

  @Test
  void noTwoRoundsOfASubjectShareAName() {
    FaultPlan.of(thorough(5))
        .rounds()
        .values()
        .forEach(
            rounds ->
                assertEquals(rounds.size(), rounds.stream().map(Round::name).distinct().count()));
  }

  private static Settings thorough(long seed) {
    return Settings.thorough(seed, Duration.ofMinutes(60), TestedLock.all());
  }

  private static Stream<Round> allRounds() {
    return Stream.of(Settings.brief(1), thorough(1))
        .flatMap(settings -> FaultPlan.of(settings).rounds().values().stream())
        .flatMap(List::stream);
  }

  private static Set<Fault> missing(Stream<Round> rounds, Fault... wanted) {
    Set<Fault> struck =
        rounds
            .flatMap(round -> round.strikes().stream())
            .map(FaultEvent::fault)
            .collect(Collectors.toSet());
    return Stream.of(wanted).filter(fault -> !struck.contains(fault)).collect(Collectors.toSet());
  }
}
