package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A quorum needs independent servers: two members on one are refused, however they are named. */
@Timeout(60)
class OneServerTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration BUDGET = Duration.ofSeconds(2);

  private final String name = Names.fresh();
  private final List<LockClient> clients = new ArrayList<>();
  private FaultyNodes nodes;

  @BeforeEach
  void start() {
    nodes = FaultyNodes.start(4);
  }

  @AfterEach
  void stop() {
    clients.forEach(LockClient::close);
    nodes.close();
  }

  private LockClient client(String uri) {
    LockClient client = LockClient.create(uri);
    clients.add(client);
    return client;
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
  void anotherNameOfTheHostIsFoundOutWhenBothHaveAnswered(List<Integer> places) throws Exception {
    isFoundOut(places, "redis://localhost:" + nodes.server(0).port());
  }

  @ParameterizedTest
  @MethodSource("where")
  void aProxyInFrontIsFoundOutWhenBothHaveAnswered(List<Integer> places) throws Exception {
    isFoundOut(places, nodes.proxy(0).uri());
  }

  private void isFoundOut(List<Integer> places, String detour) throws Exception {
    List<String> uris = new ArrayList<>(places.stream().map(i -> nodes.server(i).uri()).toList());
    uris.set(places.lastIndexOf(0), detour);
    for (boolean oneName : List.of(true, false)) {
      List<String> names = places.stream().map(i -> oneName ? name : Names.fresh()).toList();
      RedLock lock = lock(uris, names);
      if (places.size() > 2) {
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

  /** A vote may be decided before the second of the two has answered; then it is known soon. */
  private static void awaitAllIdentified(RedLock lock) {
    Eventually.until(
        "it is found out",
        () -> {
          try {
            lock.acquire(WAIT).orElseThrow().close();
            return false;
          } catch (IllegalStateException foundOut) {
            return true;
          }
        });
  }

  @Test
  void aUserWithoutTheRightToAskWhichServerItIsGetsTheLock() throws Exception {
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
    nodes.awaitHolding(name, 0);
  }

  @ParameterizedTest(name = "{1} of {0}")
  @CsvSource({"1,1", "2,2", "3,2", "4,3"})
  void itStandsOnAMajorityOfAnyNumber(int members, int quorum) throws Exception {
    List<String> uris = nodes.uris().subList(0, members);
    RedLock lock = lock(uris, uris.stream().map(uri -> name).toList());
    try (Lease lease = lock.acquire(WAIT).orElseThrow()) {
      assertEquals(members, ((QuorumLease) lease).nodes());
      assertEquals(quorum, ((QuorumLease) lease).quorum());
      nodes.awaitHolding(name, members);
    }
    nodes.awaitHolding(name, 0);

    // One short of a majority is free: nobody gets it. Exactly a majority is.
    for (int place = quorum - 1; place < members; place++) {
      nodes.holdAsStranger(name, place);
    }
    assertEquals(false, lock.tryLock(Duration.ofMillis(100)));
    nodes.releaseAsStranger(name, quorum - 1);
    lock.acquire(WAIT).orElseThrow().close();
    nodes.awaitHolding(name, members - quorum);
  }
}
