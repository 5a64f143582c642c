package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.LIVENESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** The locks that can be members, their order, and repeated members. */
@Timeout(60)
class MembersTest {
  @RegisterExtension static final MemberServers servers = new MemberServers(1);

  private final String prefix = Names.fresh();
  private final RedisLock a = new RedisLock(servers.here(0), prefix + ":a");
  private final RedisLock b = new RedisLock(servers.here(0), prefix + ":b");
  private final RedisLock c = new RedisLock(servers.here(0), prefix + ":c");

  private static void assertSame(DistributedLock one, DistributedLock other) {
    assertEquals(one, other);
    assertEquals(one.hashCode(), other.hashCode());
    assertEquals(one.name(), other.name());
  }

  @Test
  void theOrderOfTheMembersDoesNotMatter() {
    assertSame(new MultiLock(a, b, c), new MultiLock(c, a, b));
    assertSame(new MultiLock(a, b, c), new MultiLock(List.of(b, c, a)));
    assertNotEquals(new MultiLock(a, b), new MultiLock(a, c));
    assertNotEquals(new MultiLock(a, b), new MultiLock(a, b, c));
  }

  @Test
  void aMemberThatIsAMultiLockCountsAsItsMembers() {
    assertSame(new MultiLock(a, b, c), new MultiLock(new MultiLock(c, a), b));
    assertSame(
        new MultiLock(a, b, c),
        new MultiLock(new MultiLock(c, new MultiLock(b)), new MultiLock(a)));
  }

  @Test
  void theSameMemberTwiceCountsOnce() {
    RedisLock again = new RedisLock(servers.here(0), a.name());
    MultiLock lock = new MultiLock(a, b, a, again, new MultiLock(a, b));
    assertSame(new MultiLock(a, b), lock);
    lock.lock();
    assertEquals(1, a.holdCount());
    assertEquals(1, b.holdCount());
    lock.unlock();
    assertEquals(List.of(), servers.keys(0));
  }

  @Test
  void aHoldBelongsToTheMembersAndNotToTheObject() {
    new MultiLock(a, new MultiLock(b, c)).lock();
    assertTrue(new MultiLock(c, b, a).isHeldByCurrentThread());
    new MultiLock(List.of(b, a, c)).unlock();
    assertEquals(List.of(), servers.keys(0));
  }

  @Test
  void locksOfOtherClientsAreOtherLocks() {
    RedisLock others = new RedisLock(servers.there(0), prefix + ":b");
    assertNotEquals(new MultiLock(a, b), new MultiLock(a, others));
  }

  // ---- what is refused at construction

  private static void assertRefused(String because, Executable construction) {
    var refused = assertThrows(IllegalArgumentException.class, construction);
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains(because), message);
  }

  @Test
  void noMembersAreRefused() {
    assertRefused("at least one member", MultiLock::new);
    assertRefused("at least one member", () -> new MultiLock(List.of()));
  }

  @Test
  void oneNameByTwoClientsOfOneAddressIsRefused() throws Exception {
    LockClient one = servers.client(0);
    LockClient two = servers.client(0);
    RedisLock first = new RedisLock(one, a.name());
    RedisLock second = new RedisLock(two, a.name());
    assertRefused(a.name(), () -> new MultiLock(first, b, second));
    assertRefused(a.name(), () -> new MultiLock(new MultiLock(b, first), second));
    MultiLock both = new MultiLock(first, new RedisLock(two, b.name()));
    both.acquire(LIVENESS).orElseThrow().close();
  }

  @Test
  void twoKindsOfLockOnOneNameAreRefused() {
    LockClient client = servers.here(0);
    RedisReadWriteLock rw = new RedisReadWriteLock(client, a.name());
    List<DistributedLock> kinds =
        List.of(a, new RedisFairLock(client, a.name()), rw.readLock(), rw.writeLock());
    for (DistributedLock one : kinds) {
      for (DistributedLock other : kinds) {
        if (!one.equals(other)) {
          assertRefused("one lock in Redis", () -> new MultiLock(one, b, other));
        }
      }
    }
  }

  private static void assertRefusedNow(Executable acquisition) {
    var refused = assertThrows(IllegalStateException.class, acquisition);
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("one lock in Redis"), message);
  }

  @Test
  void oneNameUnderTwoAddressesOfOneServerIsRefusedAtTheAcquisition() throws Exception {
    String elsewhere = "redis://localhost:" + servers.server(0).port();
    LockClient direct = servers.client(0);
    LockClient same = servers.client(elsewhere, LockOptions.defaults());
    MultiLock lock =
        new MultiLock(new RedisLock(direct, a.name()), b, new RedisLock(same, a.name()));
    assertRefusedNow(lock::lock);
    assertRefusedNow(lock::tryLock);
    assertRefusedNow(() -> lock.tryLock(HOUR));
    assertRefusedNow(() -> lock.withLease(Duration.ofSeconds(1)).lock());
    assertRefusedNow(lock::tryAcquire);
    assertRefusedNow(() -> lock.acquire(HOUR));
    var late =
        assertThrows(
            CompletionException.class, () -> lock.acquireAsync(HOUR).toCompletableFuture().join());
    assertTrue(late.getCause() instanceof IllegalStateException, late::toString);
    assertEquals(List.of(), servers.keys(0), "nothing was acquired");
    assertFalse(lock.isHeldByCurrentThread());

    MultiLock different =
        new MultiLock(new RedisLock(direct, a.name()), new RedisLock(same, c.name()));
    different.lock();
    assertEquals(Set.of(a.name(), c.name()), Set.copyOf(servers.keys(0)));
    different.unlock();
  }

  @Test
  void aLockThatIsNotMadeOfLeasesIsRefusedByItsName() {
    DistributedLock foreign =
        (DistributedLock)
            Proxy.newProxyInstance(
                DistributedLock.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "name" -> "strange";
                      case "undecorated" -> proxy;
                      default -> null;
                    });
    assertRefused("lock 'strange'", () -> new MultiLock(a, foreign));
    assertRefused("not made of leases", () -> new MultiLock(List.of(foreign)));
  }

  @Test
  void aDecoratedLockCanBeAMember() {
    DistributedLock decorated =
        (DistributedLock)
            Proxy.newProxyInstance(
                DistributedLock.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) -> method.invoke(a, arguments));
    MultiLock lock = new MultiLock(decorated, b);

    lock.lock();

    assertTrue(a.isHeldByCurrentThread());
    lock.unlock();
    assertFalse(a.isLocked());
    assertEquals(new MultiLock(a, b), lock);
  }

  @Test
  void nullIsRefused() {
    DistributedLock[] withNull = {a, null};
    assertThrows(NullPointerException.class, () -> new MultiLock(withNull));
  }
}
