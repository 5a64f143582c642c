package io.mortise.core.internal.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.ServerInfo;
import io.mortise.core.Acknowledgement;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What follows from the answers of servers that are hard to have in a test. */
class HealthRulesTest {
  private static final String SOUND =
      """
      redis_version:7.4.2
      role:master
      connected_slaves:0
      maxmemory:0
      maxmemory_policy:noeviction
      aof_enabled:1
      aof_last_write_status:ok
      rdb_last_bgsave_status:ok
      """;

  private static final Duration ROUND_TRIP = Duration.ofNanos(400_000);

  private static CheckResults judge(String info, Duration roundTrip, LockOptions options) {
    CheckResults results = new CheckResults();
    Object time = List.of("1700000000".getBytes(UTF_8), "5000".getBytes(UTF_8));
    HealthRules.judge(
        new ServerAnswers(
            "PONG", roundTrip.toNanos(), new ServerInfo(info), time, 1_700_000_000_000L),
        options,
        results);
    return results;
  }

  private static CheckResults judge(String info) {
    return judge(info, ROUND_TRIP, LockOptions.defaults());
  }

  private static Finding only(CheckResults results) {
    assertEquals(1, results.findings().size(), () -> results.findings().toString());
    return results.findings().get(0);
  }

  @Test
  void aSoundServerHasFactsAndNoFindings() {
    CheckResults results = judge(SOUND);

    assertEquals(List.of(), results.findings());
    assertEquals(
        Map.of(
            Check.VERSION, "Redis 7.4.2",
            Check.ROLE, "master",
            Check.EVICTION, "no maxmemory",
            Check.PERSISTENCE, "appendonly yes",
            Check.REPLICATION, "no replicas",
            Check.ROUND_TRIP, "0.40 ms",
            Check.CLOCK, "+5 ms from the clock of this process"),
        results.facts());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redis_version:7.4.2 | redis_version:6.0.16 | VERSION | ERROR | 6.0.16",
        "redis_version:7.4.2 | redis_version:5.0.7 | VERSION | ERROR | 5.0.7",
        "role:master | role:slave | ROLE | ERROR | replica",
        "aof_enabled:1 | aof_enabled:0 | PERSISTENCE | WARNING | appendonly no",
        "aof_enabled:1 | other:1 | PERSISTENCE | INFO | INFO does not say",
        "aof_last_write_status:ok | aof_last_write_status:err | PERSISTENCE | ERROR | append-only"
            + " file",
        "rdb_last_bgsave_status:ok | rdb_last_bgsave_status:err | PERSISTENCE | WARNING | snapshot",
        "connected_slaves:0 | connected_slaves:2 | REPLICATION | INFO | failover may forget",
      })
  void oneThingThatIsWrongIsOneFinding(
      String sound, String wrong, Check check, Severity severity, String part) {
    Finding finding = only(judge(SOUND.replace(sound, wrong)));

    assertEquals(check, finding.check());
    assertEquals(severity, finding.severity());
    assertTrue(finding.problem().contains(part), finding::problem);
  }

  @ParameterizedTest
  @CsvSource({"allkeys-lru", "volatile-lru", "volatile-ttl", "allkeys-random"})
  void everyPolicyButNoevictionMayEvictALockBecauseALockExpires(String policy) {
    String info = SOUND.replace("maxmemory:0", "maxmemory:1000000").replace("noeviction", policy);

    Finding finding = only(judge(info));

    assertEquals(Check.EVICTION, finding.check());
    assertEquals(Severity.WARNING, finding.severity());
  }

  @Test
  void aMasterWithoutAFileAndWithReplicasMayEmptyThemToo() {
    CheckResults results =
        judge(SOUND.replace("aof_enabled:1", "aof_enabled:0").replace("slaves:0", "slaves:2"));

    assertEquals(
        List.of("after a restart", "a restart that is quicker", "a failover may forget"),
        results.findings().stream()
            .map(Finding::problem)
            .map(problem -> problem.replaceFirst("( it lacks| than| the locks).*", ""))
            .toList());
  }

  @Test
  void requiredAcknowledgementsEndTheDoubtOfAFailover() {
    String info = SOUND.replace("connected_slaves:0", "connected_slaves:2");

    CheckResults results =
        judge(
            info,
            ROUND_TRIP,
            LockOptions.builder().acknowledgement(Acknowledgement.ofReplicas(1)).build());

    assertEquals(List.of(), results.findings());
    assertEquals(
        "2 replicas, of which 1 have to acknowledge", results.facts().get(Check.REPLICATION));
  }

  @Test
  void replicasThatDoNotFollowAndTheMinimumAreSeen() {
    CheckResults results =
        judge(
            SOUND.replace(
                "connected_slaves:0\n",
                """
                connected_slaves:3
                min_slaves_good_slaves:1
                slave0:ip=10.0.0.1,port=6379,state=online,offset=42,lag=1
                slave1:ip=10.0.0.2,port=6379,state=wait_bgsave,offset=0,lag=0
                slave2:ip=10.0.0.3,port=6379,state=online,offset=17,lag=45
                """),
            ROUND_TRIP,
            LockOptions.builder().acknowledgement(Acknowledgement.ofReplicas(1)).build());

    assertEquals(
        List.of(
            "its replica 10.0.0.2:6379 does not follow yet: its state is wait_bgsave",
            "its replica 10.0.0.3:6379 has acknowledged nothing for 45 s"),
        results.findings().stream().map(Finding::problem).toList());
    assertTrue(results.facts().get(Check.REPLICATION).endsWith("counts 1"));
  }

  @ParameterizedTest
  @CsvSource({"150, INFO", "3100, WARNING"})
  void aLongRoundTripMatters(long millis, Severity severity) {
    Finding finding = only(judge(SOUND, Duration.ofMillis(millis), LockOptions.defaults()));

    assertEquals(Check.ROUND_TRIP, finding.check());
    assertEquals(severity, finding.severity());
  }

  // ---- the clocks of several servers

  private static CheckedServer withClock(String address, long offsetMillis) {
    return new CheckedServer(
        address,
        true,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(Duration.ofMillis(offsetMillis)),
        List.of(),
        Map.of());
  }

  @Test
  void theServerWhoseClockIsAloneIsNamed() {
    List<CheckedServer> servers =
        HealthRules.compareClocks(
            List.of(withClock("a", -40), withClock("b", 3_000), withClock("c", 10)));

    assertEquals(
        List.of(0, 1, 0), servers.stream().map(server -> server.findings().size()).toList());
    Finding finding = servers.get(1).findings().get(0);
    assertEquals(Check.CLOCK, finding.check());
    assertEquals(Severity.WARNING, finding.severity());
    assertTrue(finding.problem().contains("2990 ms"), finding::problem);
  }

  @Test
  void clocksThatAreAllOffByTheSameAgree() {
    List<CheckedServer> servers = List.of(withClock("a", 60_000), withClock("b", 60_400));

    assertEquals(servers, HealthRules.compareClocks(servers));
  }
}
