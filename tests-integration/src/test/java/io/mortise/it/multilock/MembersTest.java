package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** Which locks can be members, in which order, and how often. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MembersTest {
  @RegisterExtension static final MemberServers sites = new MemberServers(1);

  private final String prefix = Names.fresh();
  private RedisLock a;
  private RedisLock b;
  private RedisLock c;

  @BeforeEach
  void open() {
    a = new RedisLock(sites.here(0), prefix + ":a");
    b = new RedisLock(sites.here(0), prefix + ":b");
    c = new RedisLock(sites.here(0), prefix + ":c");
  }

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
  void aMemberThatIsAMultiLockStandsForItsMembers() {
    assertSame(new MultiLock(a, b, c), new MultiLock(new MultiLock(c, a), b));
    assertSame(
        new MultiLock(a, b, c),
        new MultiLock(new MultiLock(c, new MultiLock(b)), new MultiLock(a)));
  }

  @Test
  void theSameMemberTwiceCountsOnce() {
    RedisLock again = new RedisLock(sites.here(0), a.name());
    MultiLock lock = new MultiLock(a, b, a, again, new MultiLock(a, b));
    assertSame(new MultiLock(a, b), lock);
    lock.lock();
    assertEquals(1, a.holdCount());
    assertEquals(1, b.holdCount());
    lock.unlock();
    assertEquals(List.of(), sites.keysLeft(0));
  }

  @Test
  void aHoldBelongsToTheMembersAndNotToTheObject() {
    new MultiLock(a, new MultiLock(b, c)).lock();
    assertTrue(new MultiLock(c, b, a).isHeldByCurrentThread());
    new MultiLock(List.of(b, a, c)).unlock();
    assertEquals(List.of(), sites.keysLeft(0));
  }

  @Test
  void locksOfOtherClientsAreOtherLocks() {
    RedisLock others = new RedisLock(sites.there(0), prefix + ":b");
    assertNotEquals(new MultiLock(a, b), new MultiLock(a, others));
  }

  // ---- what is refused at the door

  private static void assertRefused(String because, Executable door) {
    var refused = assertThrows(IllegalArgumentException.class, door);
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
    try (LockClient one = sites.client(0);
        LockClient two = sites.client(0)) {
      RedisLock first = new RedisLock(one, a.name());
      RedisLock second = new RedisLock(two, a.name());
      assertRefused(a.name(), () -> new MultiLock(first, b, second));
      assertRefused(a.name(), () -> new MultiLock(new MultiLock(b, first), second));
      MultiLock both = new MultiLock(first, new RedisLock(two, b.name()));
      both.acquire(MemberServers.LIVENESS).orElseThrow().close();
    }
  }

  @Test
  void twoKindsOfLockOnOneNameAreRefused() {
    LockClient client = sites.here(0);
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

  @Test
  void oneNameUnderTwoAddressesOfOneServerIsRefusedWhenItIsToBeTaken() throws Exception {
    String elsewhere = "redis://localhost:" + sites.server(0).port();
    try (LockClient direct = sites.client(0);
        LockClient same = LockClient.create(elsewhere)) {
      MultiLock lock =
          new MultiLock(new RedisLock(direct, a.name()), b, new RedisLock(same, a.name()));
      assertRefused("one lock in Redis", lock::lock);
      assertRefused("one lock in Redis", lock::tryLock);
      assertRefused("one lock in Redis", () -> lock.tryLock(MemberServers.HOUR));
      assertRefused("one lock in Redis", () -> lock.lock(Duration.ofSeconds(1)));
      assertRefused("one lock in Redis", lock::tryAcquire);
      assertRefused("one lock in Redis", () -> lock.acquire(MemberServers.HOUR));
      var late =
          assertThrows(
              CompletionException.class,
              () -> lock.acquireAsync(MemberServers.HOUR).toCompletableFuture().join());
      assertTrue(late.getCause() instanceof IllegalArgumentException, late::toString);
      assertEquals(List.of(), sites.keysLeft(0), "nothing was taken");
      assertFalse(lock.isHeldByCurrentThread());

      MultiLock different =
          new MultiLock(new RedisLock(direct, a.name()), new RedisLock(same, c.name()));
      different.lock();
      assertEquals(Set.of(a.name(), c.name()), Set.copyOf(sites.keysLeft(0)));
      different.unlock();
    }
  }

  @Test
  void aLockThatIsNotMadeOfLeasesIsRefusedByItsName() {
    DistributedLock foreign =
        (DistributedLock)
            Proxy.newProxyInstance(
                DistributedLock.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) -> method.getName().equals("name") ? "strange" : null);
    assertRefused("lock 'strange'", () -> new MultiLock(a, foreign));
    assertRefused("not made of leases", () -> new MultiLock(List.of(foreign)));
  }

  @Test
  void nullIsRefused() {
    DistributedLock[] withNull = {a, null};
    assertThrows(NullPointerException.class, () -> new MultiLock(withNull));
  }
}
