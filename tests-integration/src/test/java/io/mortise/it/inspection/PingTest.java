package io.mortise.it.inspection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Acknowledgement;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reports of a client on its servers. */
@Timeout(60)
class PingTest {
  private static final LockOptions NAMESPACE = LockOptions.builder().namespace("it:").build();

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static ServerHealth ping(String uri, LockOptions options) {
    try (LockClient client = LockClient.create(uri, options)) {
      ServerHealth health = client.ping();
      assertTrue(client.status().isIdle(), client.status()::toString);
      return health;
    }
  }

  private static ServerHealth ping(String uri) {
    return ping(uri, LockOptions.defaults());
  }

  private static ServerHealth.Server only(ServerHealth health) {
    assertEquals(1, health.servers().size(), health::toString);
    return health.servers().get(0);
  }

  private static List<Finding> findings(ServerHealth health, Severity severity) {
    return only(health).findings().stream()
        .filter(finding -> finding.severity() == severity)
        .toList();
  }

  private static Finding finding(ServerHealth health, Severity severity, String part) {
    return findings(health, severity).stream()
        .filter(finding -> finding.problem().contains(part))
        .findFirst()
        .orElseThrow(() -> new AssertionError(health.toString()));
  }

  @Test
  void aServerThatKeepsLocksOverARestartHasNoFinding() {
    try (RedisServer server = RedisServer.builder().config("appendonly", "yes").start()) {
      // A busy machine has a finding of its own: a command that takes long.
      ServerHealth health =
          await().until(() -> ping(server.uri()), each -> each.severity() == Severity.OK);

      assertTrue(health.isReachable());
      ServerHealth.Server found = only(health);
      assertTrue(found.address().contains(Integer.toString(server.port())), found.address());
      assertTrue(found.version().orElseThrow().matches("\\d+\\.\\d+.*"));
      assertEquals(Optional.of("master"), found.role());
      assertTrue(found.roundTrip().orElseThrow().compareTo(Duration.ofSeconds(2)) < 0);
      assertTrue(found.clockOffset().orElseThrow().abs().compareTo(Duration.ofSeconds(2)) < 0);
      assertEquals(Set.of(Check.values()), found.facts().keySet(), "each check was made");
      assertEquals(0L, server.command("DBSIZE"), "it leaves no key");
    }
  }

  @Test
  void aServerWithoutAnAppendOnlyFileMayForgetLocks() {
    finding(ping(redis.uri()), Severity.WARNING, "appendonly no");
  }

  @Test
  void aServerThatEvictsIsWarnedOf() {
    try (RedisServer server =
        RedisServer.builder()
            .config("maxmemory", "100mb")
            .config("maxmemory-policy", "allkeys-lru")
            .start()) {
      finding(ping(server.uri()), Severity.WARNING, "allkeys-lru");
    }
  }

  @Test
  void aReplicaIsAnError() {
    try (RedisServer server =
        RedisServer.builder()
            .config("replicaof", "127.0.0.1", "" + redis.server().port())
            .start()) {
      ServerHealth health = ping(server.uri());

      assertEquals(Severity.ERROR, health.severity());
      assertTrue(health.isReachable());
      finding(health, Severity.ERROR, "replica, which takes no locks");
      Finding refused = finding(health, Severity.ERROR, "READONLY");
      assertEquals(LockException.Reason.READ_ONLY, refused.cause().orElseThrow().reason());
      assertTrue(refused.remedy().contains("name its master"), refused::toString);
      assertEquals(2, findings(health, Severity.ERROR).size(), health::toString);
    }
  }

  @Test
  void acknowledgementsThatNoReplicaCanGiveAreAnError() {
    LockOptions options =
        LockOptions.builder().acknowledgement(Acknowledgement.ofReplicas(1)).build();

    finding(ping(redis.uri(), options), Severity.ERROR, "LockOptions.acknowledgement");
  }

  // ---- rights

  private static String userWith(List<String> rights) {
    return userWith(rights, redis.server());
  }

  private static String userWith(List<String> rights, RedisServer server) {
    List<String> command =
        new ArrayList<>(List.of("ACL", "SETUSER", "asking", "reset", "on", ">secret"));
    command.addAll(rights);
    assertEquals("OK", server.command(command.toArray(String[]::new)));
    return "redis://asking:secret@%s:%d".formatted(server.host(), server.port());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?protocol=2", "?protocol=3"})
  void theDocumentedRightsAreEnough(String protocol) throws Exception {
    ServerHealth health = ping(userWith(Rights.documented("it:")) + protocol, NAMESPACE);

    assertEquals(List.of(), findings(health, Severity.ERROR));
    assertEquals(List.of(), findings(health, Severity.INFO));
  }

  @ParameterizedTest
  @ValueSource(strings = {"+hset", "+publish", "+evalsha", "+subscribe"})
  void aMissingRightIsAnErrorThatNamesIt(String right) throws Exception {
    List<String> rights = Rights.documented("it:");
    assertTrue(rights.remove(right));

    ServerHealth health = ping(userWith(rights), NAMESPACE);

    Finding error = findings(health, Severity.ERROR).get(0);
    assertTrue(
        error.problem().toLowerCase(Locale.ROOT).contains(right.substring(1)), error::toString);
  }

  @Test
  void withoutARightToAChannelOrToInfoThatIsSaid() throws Exception {
    List<String> rights = Rights.documented("it:");
    rights.remove("&redisson_lock__channel:*");
    rights.remove("+info");

    ServerHealth health = ping(userWith(rights), NAMESPACE);

    finding(health, Severity.ERROR, "subscription");
    finding(health, Severity.INFO, "INFO");
    assertEquals(Optional.empty(), only(health).version());
  }

  /** The client asks when it is made, at one server; a right may go, and a master may change. */
  @Test
  void aServerThatDoesNotAcknowledgeWritesAsWantedIsAnError() throws Exception {
    List<String> rights = Rights.documented("it:");
    rights.add("+wait");
    LockOptions options =
        NAMESPACE.toBuilder().acknowledgement(Acknowledgement.ofReplicas(1)).build();
    try (LockClient client = LockClient.create(userWith(rights), options)) {
      assertFalse(client.ping().toString().contains("does not acknowledge"));
      redis.server().command("ACL", "SETUSER", "asking", "-wait");

      Finding error = finding(client.ping(), Severity.ERROR, "does not acknowledge");

      assertEquals(Check.REPLICATION, error.check());
    }
  }

  /** The name is allowed, so it is no question of the namespace. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "~redisson_lock_token:*",
        "~mortise_forced:*",
        "~mortise_waiters:*",
        "~redisson_lock__channel:*"
      })
  void aKeyOfALockThatTheUserMayNotUseIsAnError(String right) throws Exception {
    List<String> rights = Rights.documented("it:");
    assertTrue(rights.remove(right));

    ServerHealth health = ping(userWith(rights), NAMESPACE);

    Finding error = findings(health, Severity.ERROR).get(0);
    assertTrue(error.remedy().contains(right), error::toString);
  }

  /** The connection of the subscription looks a host up, which an interrupt would end. */
  @Test
  void anInterruptChangesNoReportAndIsKept() {
    String uri = redis.server().uri().replace(redis.server().host(), "localhost");
    Thread.currentThread().interrupt();

    ServerHealth health = ping(uri);

    assertTrue(Thread.interrupted(), "the status is kept");
    assertEquals(List.of(), findings(health, Severity.ERROR));
  }

  @Test
  void aNameThatTheUserMayNotUseIsUnknownAndNoError() throws Exception {
    ServerHealth health = ping(userWith(Rights.documented("it:")));

    assertEquals(List.of(), findings(health, Severity.ERROR));
    finding(health, Severity.INFO, "mortise-ping");
  }

  /** One of the masters has the slot of the namespace, and the other one has none of its slots. */
  @Test
  void aNameThatTheUserMayNotUseIsNoErrorOfAMasterWithoutItsSlotEither() throws Exception {
    try (RedisCluster cluster = RedisCluster.builder().masters(2).replicas(0).start()) {
      String uri = "";
      for (RedisServer master : cluster.masters()) {
        List<String> rights = Rights.documented("it:");
        rights.addAll(Rights.onACluster(master));
        uri = userWith(rights, master).replace("redis:", "redis-cluster:");
      }

      ServerHealth health = ping(uri, LockOptions.builder().namespace("{billing}:").build());

      assertEquals(2, health.servers().size(), health::toString);
      for (ServerHealth.Server server : health.servers()) {
        List<Finding> ofCommands =
            server.findings().stream()
                .filter(finding -> finding.check() == Check.COMMANDS)
                .toList();
        assertEquals(1, ofCommands.size(), health::toString);
        assertEquals(Severity.INFO, ofCommands.get(0).severity(), health::toString);
        assertTrue(
            ofCommands.get(0).problem().contains("{billing}:mortise-ping"), health::toString);
      }
    }
  }

  // ---- servers that do not answer

  @Test
  void anUnreachableServerIsAFindingWithItsCause() {
    ServerHealth health = ping("redis://127.0.0.1:1");

    assertFalse(health.isReachable());
    assertEquals(Severity.ERROR, health.severity());
    Finding finding = findings(health, Severity.ERROR).get(0);
    assertEquals(LockException.Reason.UNREACHABLE, finding.cause().orElseThrow().reason());
  }

  @Test
  void aServerThatHangsIsWaitedForNoLongerThanACommandMayTake() throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofSeconds(1)).build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient client = LockClient.create(proxy.uri(), options)) {
      assertTrue(client.ping().isReachable());
      proxy.blackhole(FaultProxy.Direction.TO_CLIENT);
      proxy.holdNewConnections();
      ServerHealth[] health = new ServerHealth[1];

      long took = Elapsed.runningMillisOf(() -> health[0] = client.ping());

      assertFalse(health[0].isReachable());
      assertTrue(took < 8_000, () -> took + " ms");
      proxy.restore();
    }
  }

  @Test
  void aWrongPasswordIsAFinding() {
    try (RedisServer server = RedisServer.builder().config("requirepass", "secret").start()) {
      String uri = "redis://:wrong@%s:%d".formatted(server.host(), server.port());

      Finding finding = findings(ping(uri), Severity.ERROR).get(0);

      assertEquals(LockException.Reason.ACCESS_DENIED, finding.cause().orElseThrow().reason());
    }
  }

  @Test
  void aClosedClientThrows() {
    LockClient client = redis.client();
    client.close();

    LockException thrown = assertThrows(LockException.class, client::ping);

    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
  }

  @ParameterizedTest(name = "each answer comes {0} ms late")
  @ValueSource(longs = {200, 450, 900})
  void aServerThatAnswersEachPartLateHasOneTimeForAllParts(long lateMillis) throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofSeconds(1)).build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient client = LockClient.create(proxy.uri(), options)) {
      assertTrue(client.ping().isReachable()); // the connection is there
      proxy.delay(FaultProxy.Direction.TO_CLIENT, Duration.ofMillis(lateMillis));
      ServerHealth[] health = new ServerHealth[1];

      long took = Elapsed.runningMillisOf(() -> health[0] = client.ping());

      assertTrue(took < 2_500, () -> took + " ms: " + health[0]);
      Finding late = findings(health[0], Severity.ERROR).get(0);
      assertTrue(late.remedy().contains("LockOptions.commandTimeout"), late::toString);
      proxy.restore();
    }
  }

  // ---- servers that refuse for another reason than a right

  @Test
  void aServerWithoutMemoryIsNoMatterOfRights() {
    try (RedisServer server =
        RedisServer.builder()
            .config("maxmemory", "100kb")
            .config("maxmemory-policy", "noeviction")
            .start()) {
      Finding finding = finding(ping(server.uri()), Severity.ERROR, "OOM");

      assertEquals(Check.COMMANDS, finding.check());
      assertEquals(LockException.Reason.OUT_OF_MEMORY, finding.cause().orElseThrow().reason());
      assertTrue(finding.remedy().contains("maxmemory"), finding::toString);
    }
  }

  @Test
  void aServerThatMissesReplicasIsNoMatterOfRights() {
    try (RedisServer server = RedisServer.builder().config("min-replicas-to-write", "1").start()) {
      Finding finding = finding(ping(server.uri()), Severity.WARNING, "min-replicas-to-write");

      assertEquals(Check.REPLICATION, finding.check());
      assertTrue(finding.remedy().contains("connect the replicas"), finding::toString);
    }
  }

  // ---- more servers

  @Test
  void eachMasterOfAClusterIsAsked() {
    try (RedisCluster cluster = RedisCluster.builder().masters(3).replicas(0).start()) {
      ServerHealth health = ping(String.join(",", cluster.uris()).replace(",redis://", ","));

      assertTrue(health.isReachable(), health::toString);
      assertEquals(3, health.servers().size());
      List<Severity> expected = // no append-only file; before Redis 7 no sharded channels
          Rights.hasShardedChannels(cluster.masters().get(0))
              ? List.of(Severity.WARNING)
              : List.of(Severity.WARNING, Severity.INFO);
      health
          .servers()
          .forEach(
              server ->
                  assertEquals(
                      expected,
                      server.findings().stream().map(Finding::severity).toList(),
                      health::toString));
    }
  }

  /** By default a cluster with a slot that no master has refuses every key. */
  @Test
  void aClusterThatIsDownIsAnError() {
    try (RedisCluster cluster = RedisCluster.builder().masters(1).replicas(0).start()) {
      RedisServer master = cluster.masters().get(0);
      master.command("CLUSTER", "DELSLOTS", "5000");
      Eventually.until(
          "it is down",
          () -> String.valueOf(master.command("CLUSTER", "INFO")).contains("state:fail"));

      for (String namespace : List.of("", "{billing}:")) {
        ServerHealth health =
            ping(
                master.uri().replace("redis:", "redis-cluster:"),
                LockOptions.builder().namespace(namespace).build());
        Finding finding = finding(health, Severity.ERROR, "the cluster runs no script");
        assertEquals(Check.COMMANDS, finding.check());
      }
    }
  }

  @Test
  void aNamespaceThatHasOneSlotIsTriedAtTheMasterOfThatSlotAlone() {
    try (RedisCluster cluster = RedisCluster.builder().masters(3).replicas(0).start()) {
      cluster.masters().forEach(RedisServer::resetStats);
      ServerHealth health =
          ping(
              String.join(",", cluster.uris()).replace(",redis://", ","),
              LockOptions.builder().namespace("{billing}:").build());

      assertEquals(Severity.WARNING, health.severity(), health::toString); // no append-only file
      assertEquals(3, health.servers().size());
      RedisServer master = cluster.masterOf("{billing}:any");
      for (RedisServer each : cluster.masters()) {
        assertEquals(
            each.port() == master.port(),
            each.commandStats().containsKey("evalsha"),
            each::toString);
      }
    }
  }

  @Test
  void theMasterThatSentinelsNameIsAsked() {
    try (RedisSentinels sentinels = RedisSentinels.start()) {
      String hosts =
          String.join(
              ",", sentinels.sentinelHostPorts().stream().map(Object::toString).sorted().toList());

      ServerHealth health = ping("redis-sentinel://" + hosts + "#" + sentinels.masterName());

      assertTrue(health.isReachable(), health::toString);
      assertEquals(Optional.of("master"), only(health).role());
    }
  }

  @Test
  void theRedisInMemoryAnswersTheSame() {
    try (InMemoryRedis memory = InMemoryRedis.start()) {
      try (LockClient client = memory.client(LockOptions.defaults())) {
        ServerHealth health = client.ping();

        assertTrue(health.isReachable(), health::toString);
        assertEquals(List.of(), findings(health, Severity.ERROR));
        assertEquals(List.of(), client.lock("any").inspect().holders());
      }
    }
  }
}
