package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One fencing token for all members, between those of all before and all after, of any of them. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MultiTokenTest {
  private static final long FUTURE = 1L << 52;

  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  private static long tokenOf(DistributedLock lock) {
    try (Lease lease = lock.tryAcquire().orElseThrow()) {
      return lease.fencingToken();
    }
  }

  private static void jump(int place, long token) {
    sites
        .server(place)
        .command("SET", MemberServers.tokenKey(sites.name(place)), Long.toString(token));
  }

  private static void assertRising(long... tokens) {
    for (int i = 1; i < tokens.length; i++) {
      assertTrue(tokens[i] > tokens[i - 1], Arrays.toString(tokens));
    }
    assertTrue(tokens[tokens.length - 1] < 1L << 53);
  }

  @Test
  void itIsTheTokenOfEachMember() {
    jump(1, FUTURE);
    MultiLock lock = sites.multi();
    lock.lock();
    long token = lock.lease().fencingToken();
    for (int i = 0; i < 3; i++) {
      assertEquals(token, sites.lock(i).lease().fencingToken());
      assertEquals(
          Long.toString(token),
          sites.server(i).command("GET", MemberServers.tokenKey(sites.name(i))));
    }
    lock.unlock();
  }

  @Test
  void itIsLargerThanThatOfAnyMemberBeforeAlsoWhenOneServerIsFarAhead() {
    jump(2, FUTURE);
    long first = tokenOf(sites.other(2));
    long all = tokenOf(sites.multi());
    long member = tokenOf(sites.lock(0));
    long pair = tokenOf(new MultiLock(sites.other(1), sites.other(0)));
    long again = tokenOf(sites.otherMulti());
    assertRising(FUTURE, first, all, member, pair, again);
  }

  @Test
  void itIsSmallerThanThatOfEachLaterHolderOfAMemberThatWasBehind() {
    jump(0, FUTURE);
    long all = tokenOf(sites.multi());
    assertRising(FUTURE, all, tokenOf(sites.other(1)));
    assertRising(all, tokenOf(sites.other(2)));
    assertRising(all, tokenOf(sites.other(0)));
  }

  @Test
  void membersOfOneServerHaveOneTokenFromOneRoundTrip() {
    RedisLock a = new RedisLock(sites.here(0), sites.name(0) + ":a");
    RedisLock b = new RedisLock(sites.here(0), sites.name(0) + ":b");
    sites.server(0).command("SET", MemberServers.tokenKey(b.name()), Long.toString(FUTURE));
    long both = tokenOf(new MultiLock(a, b));
    assertRising(FUTURE, both, tokenOf(a));
    assertRising(both, tokenOf(b));
  }

  @Test
  void membersOfAllFamiliesShareIt() {
    String name = sites.name(0);
    RedisFairLock fair = new RedisFairLock(sites.here(0), name + ":fair");
    DistributedLock write = new RedisReadWriteLock(sites.here(0), name + ":rw").writeLock();
    DistributedLock read = new RedisReadWriteLock(sites.here(0), name + ":rw").readLock();
    sites.server(0).command("SET", MemberServers.tokenKey(name + ":rw"), Long.toString(FUTURE));
    long withWriter = tokenOf(new MultiLock(sites.lock(1), fair, write));
    assertRising(FUTURE, withWriter, tokenOf(fair));
    assertRising(withWriter, tokenOf(sites.other(1)));
    long withReader = tokenOf(new MultiLock(read, sites.lock(1)));
    assertTrue(withReader > withWriter);
    assertRising(withReader, tokenOf(write));
  }

  @Test
  void aMemberThatThisThreadHoldsAlreadyIsRaisedWithTheOthers() {
    sites.lock(0).lock();
    long before = sites.lock(0).lease().fencingToken();
    jump(1, FUTURE);
    sites.multi().lock();
    long all = sites.multi().lease().fencingToken();
    assertRising(before, FUTURE, all);
    assertEquals(all, sites.lock(0).lease().fencingToken(), "raised");
    sites.multi().unlock();
    sites.lock(0).unlock();
    assertRising(all, tokenOf(sites.other(0)));
  }

  @Test
  void aServerThatCannotRaiseItsTokenIsNotPartOfAHold() {
    jump(1, FUTURE);
    sites
        .proxy(0)
        .loseReplies(Integer.MAX_VALUE, LossStyle.SILENT, MemberServers.calling("lock/raise"));
    assertThrows(LockException.class, () -> sites.multi().tryLock());
    assertEquals(Set.of(), sites.held());
    sites.restore();
    sites.awaitIdle();
  }

  @Test
  void tokensRiseOverManyCombinations() {
    Random random = new Random(7);
    Map<Integer, Long> last = new HashMap<>();
    for (int round = 0; round < 60; round++) {
      int members = 1 + random.nextInt(7); // a set of the three, as bits
      List<Integer> places =
          IntStream.range(0, 3).filter(i -> (members & (1 << i)) != 0).boxed().toList();
      boolean here = random.nextBoolean();
      long token =
          tokenOf(
              new MultiLock(
                  places.stream().map(i -> here ? sites.lock(i) : sites.other(i)).toList()));
      for (int place : places) {
        assertTrue(token > last.getOrDefault(place, 0L), () -> place + ": " + last);
        last.put(place, token);
      }
    }
  }
}
