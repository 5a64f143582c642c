package io.mortise.it.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights that docs/wire.md names for a plain lock are enough, and each of them is needed. */
@Timeout(60)
@Tag("redis-version")
@TestInstance(Lifecycle.PER_CLASS)
abstract class RightsContract {
  /** How the names of {@link Names#fresh} begin. */
  static final String PREFIX = "it:";

  /** No outcome depends on the speed of the machine: no lease runs out, no command times out. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(5))
          .commandTimeout(Eventually.LIVENESS)
          .tuning(t -> t.subscriptionLinger(Duration.ZERO))
          .build();

  /** The position of the value of "object" in an entry of ACL LOG. */
  private static final int OBJECT = 7;

  /** The user that was created last. */
  private String user = "";

  /** Returns all nodes: each has to know the user. */
  abstract List<RedisServer> nodes();

  /** Returns the documented rights. */
  abstract List<String> rules() throws IOException;

  /** Returns the documented rights that are tested one by one. */
  abstract Stream<String> rights() throws IOException;

  /** Returns the URI for that user, whose password is "secret". */
  abstract String uri(String user);

  /** Uses what only these servers have. */
  abstract void useMore(DistributedLock lock);

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    useAll(rules());
    assertEquals(List.of(), refusals());
  }

  @ParameterizedTest
  @MethodSource("rights")
  void eachDocumentedRightIsNeeded(String right) throws Exception {
    List<String> others = rules();
    others.remove(right);
    try {
      useAll(others);
    } catch (LockException refused) {
      assertEquals(LockException.Reason.ACCESS_DENIED, refused.reason(), refused::getMessage);
    }
    String object = right.substring(1).split("[|*]", -1)[0];
    Eventually.until( // an UNSUBSCRIBE may still be on its way
        "the server refuses " + object,
        () -> refusals().stream().anyMatch(it -> it.startsWith(object)));
  }

  /** Returns what the nodes have refused: commands, keys, channels. */
  private List<String> refusals() {
    return nodes().stream()
        .flatMap(node -> ((List<?>) node.command("ACL", "LOG")).stream())
        .map(entry -> (String) ((List<?>) entry).get(OBJECT))
        .filter(object -> !object.startsWith("client")) // Jedis sends its name, if it may
        .filter(object -> !ClientRecords.isRecord(object)) // without the right it is not written
        .toList();
  }

  private String userWith(List<String> rules) {
    user = "user-" + UUID.randomUUID();
    List<String> command =
        new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "resetchannels", "on", ">secret"));
    command.addAll(rules);
    for (RedisServer node : nodes()) {
      node.command("SCRIPT", "FLUSH");
      node.command("ACL", "LOG", "RESET");
      assertEquals("OK", node.command(command.toArray(String[]::new)));
    }
    return uri(user);
  }

  /**
   * Sends all that a client may send: attempts, subscriptions of which one ends before the other, a
   * release that wakes a waiter, a renewal, a forced release.
   */
  final void useAll(List<String> rules) throws Exception {
    String uri = userWith(rules);
    try (LockClient one = LockClient.create(uri, OPTIONS);
        LockClient two = LockClient.create(uri, OPTIONS)) {
      DistributedLock lock = new RedisLock(one, Names.fresh());
      DistributedLock other = new RedisLock(one, "it:{" + lock.name() + "}:other");
      Lease held = lock.tryAcquire().orElseThrow();
      Lease heldToo = other.tryAcquire().orElseThrow();
      AsyncCall<Boolean> waiter = startWaiter(two, lock);
      awaitSubscribed(1);
      AsyncCall<Boolean> leaver = startWaiter(two, other);
      awaitSubscribed(2); // a channel that was never requested would need no UNSUBSCRIBE
      interrupt(leaver);
      Eventually.until(
          "one channel is left", () -> two.status().channels() == 1 || waiter.isDone());
      assertTrue(lock.isLocked());
      held.close();
      awaitServed(waiter);
      assertTrue(other.forceUnlock());
      assertThrows(LeaseLostException.class, heldToo::close);
      renew(other);
      useMore(other);
    }
  }

  private static AsyncCall<Boolean> startWaiter(LockClient client, DistributedLock lock) {
    DistributedLock same = new RedisLock(client, lock.name());
    return AsyncCall.start(() -> same.tryLock(Duration.ofMinutes(1)));
  }

  /** Waits until the nodes have that number of subscriptions, or have refused something. */
  private void awaitSubscribed(int count) {
    Eventually.until(
        "the nodes have " + count + " subscriptions",
        () -> subscriptions() == count || !refusals().isEmpty());
  }

  /** Returns the number of subscriptions of the user that was created last. */
  private int subscriptions() {
    return nodes().stream()
        .map(node -> (String) node.command("CLIENT", "LIST", "TYPE", "pubsub"))
        .flatMap(String::lines)
        .filter(line -> line.contains(" user=" + user + " "))
        .flatMap(line -> Stream.of(line.split(" ", -1)))
        .filter(field -> field.startsWith("sub=") || field.startsWith("ssub="))
        .mapToInt(field -> Integer.parseInt(field.substring(field.indexOf('=') + 1)))
        .sum();
  }

  /**
   * Waits until the waiter has the lock. A release whose message is refused succeeds, but wakes no
   * waiter before the end of the lease: then the wait is interrupted.
   */
  private void awaitServed(AsyncCall<Boolean> waiter) throws Exception {
    Eventually.until("the waiter has the lock", () -> waiter.isDone() || isPublishRefused());
    if (isPublishRefused()) {
      interrupt(waiter);
    } else {
      assertTrue(waiter.get());
    }
  }

  private boolean isPublishRefused() {
    return refusals().stream().anyMatch(object -> object.endsWith("publish"));
  }

  /** Ends the wait; a refusal is thrown. */
  private static void interrupt(AsyncCall<Boolean> waiter) throws Exception {
    waiter.interrupt();
    try {
      waiter.get();
    } catch (InterruptedException expected) {
      // the wait has ended
    }
  }

  /** Re-enters with a longer lease, which renews the hold. */
  private static void renew(DistributedLock lock) throws InterruptedException {
    Duration longer = OPTIONS.lease().multipliedBy(2);
    assertTrue(lock.tryLock(Duration.ZERO, OPTIONS.lease()));
    try {
      assertTrue(lock.tryLock(Duration.ZERO, longer));
      assertTrue(lock.lease().remaining().compareTo(OPTIONS.lease()) > 0);
      lock.unlock();
    } finally {
      lock.unlock();
    }
  }
}
