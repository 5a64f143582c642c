package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A quorum needs independent servers: two members on one are refused, however they are named. */
@Timeout(60)
class OneServerTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(4);

  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration BUDGET = Duration.ofSeconds(2);

  private final String name = Names.fresh();

  private static LockClient client(String uri) {
    return nodes.client(uri, LockOptions.defaults());
  }

  private RedLock lock(List<String> uris, List<String> names) {
    RedLock.Builder builder = RedLock.builder().nodeWaitBudget(BUDGET);
    for (int i = 0; i < uris.size(); i++) {
      builder.member(new RedisLock(client(uris.get(i)), names.get(i)));
    }
    return builder.build();
  }

  @Test
  void oneAddressTwiceIsRefusedAtConstruction() {
    LockClient one = client(nodes.server(0).uri());
    LockClient same = client(nodes.server(0).uri());
    LockClient other = client(nodes.server(1).uri());
    DistributedLock first = new RedisLock(one, name);
    for (DistributedLock second :
        List.of(
            first, new RedisLock(one, name), new RedisLock(one, "x"), new RedisLock(same, name))) {
      IllegalArgumentException thrown =
          assertThrows(
              IllegalArgumentException.class,
              () -> new RedLock(first, new RedisLock(other, name), second));
      assertTrue(thrown.getMessage().contains("are on one server"), thrown::getMessage);
      assertTrue(thrown.getMessage().contains("127.0.0.1:" + nodes.server(0).port()));
    }
  }

  static Stream<List<Integer>> where() {
    return Stream.of(List.of(0, 0), List.of(0, 0, 1), List.of(0, 1, 0), List.of(1, 2, 3, 0, 0));
  }

  @ParameterizedTest
  @MethodSource("where")
  void anotherNameOfTheHostIsDetectedWhenBothHaveAnswered(List<Integer> servers) throws Exception {
    assertDetected(servers, "redis://localhost:" + nodes.server(0).port());
  }

  @ParameterizedTest
  @MethodSource("where")
  void aProxyInFrontIsDetectedWhenBothHaveAnswered(List<Integer> servers) throws Exception {
    assertDetected(servers, nodes.proxy(0).uri());
  }

  private void assertDetected(List<Integer> servers, String detour) throws Exception {
    List<String> uris = new ArrayList<>(servers.stream().map(i -> nodes.server(i).uri()).toList());
    uris.set(servers.lastIndexOf(0), detour);
    for (boolean oneName : List.of(true, false)) {
      List<String> names = servers.stream().map(i -> oneName ? name : Names.fresh()).toList();
      RedLock lock = lock(uris, names);
      if (servers.size() > 2) {
        awaitAllIdentified(lock);
      }
      for (int again = 0; again < 2; again++) {
        IllegalStateException thrown =
            assertThrows(IllegalStateException.class, () -> lock.tryLock(WAIT));
        assertTrue(thrown.getMessage().contains("are on one server"), thrown::getMessage);
      }
      names.forEach(each -> nodes.awaitHolding(each, 0));
    }
  }

  /** A round may be decided before the second of the two has answered; a later one detects it. */
  private static void awaitAllIdentified(RedLock lock) {
    Eventually.until(
        "it is detected",
        () -> {
          try {
            lock.acquire(WAIT).orElseThrow().close();
            return false;
          } catch (IllegalStateException detected) {
            return true;
          }
        });
  }

  @Test
  void aUserWithoutTheRightToIdentifyTheServerAcquiresTheLock() throws Exception {
    List<String> uris = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      RedisServer server = nodes.server(i);
      server.command("ACL", "SETUSER", "ann", "on", ">pw", "~*", "&*", "+@all", "-info");
      uris.add("redis://ann:pw@127.0.0.1:" + server.port());
    }
    RedLock lock = lock(uris, List.of(name, name, name));
    for (int i = 0; i < 3; i++) {
      lock.acquire(WAIT).orElseThrow().close();
    }
  }

  @ParameterizedTest(name = "{1} of {0}")
  @CsvSource({"1,1", "2,2", "3,2", "4,3"})
  void itNeedsAMajorityOfAnyNumber(int members, int quorum) throws Exception {
    List<String> uris = nodes.uris().subList(0, members);
    RedLock lock = lock(uris, uris.stream().map(uri -> name).toList());
    try (Lease lease = lock.acquire(WAIT).orElseThrow()) {
      assertEquals(members, ((QuorumLease) lease).nodes());
      assertEquals(quorum, ((QuorumLease) lease).quorum());
      nodes.awaitHolding(name, members);
    }
    nodes.awaitHolding(name, 0);

    // With one free node less than a majority it is busy; with exactly a majority it is acquired.
    for (int node = quorum - 1; node < members; node++) {
      nodes.holdAsStranger(name, node);
    }
    assertEquals(false, LateAnswer.tryLock(lock, Duration.ofMillis(100)));
    nodes.releaseAsStranger(name, quorum - 1);
    lock.acquire(WAIT).orElseThrow().close();
    nodes.awaitHolding(name, members - quorum);
  }
}
