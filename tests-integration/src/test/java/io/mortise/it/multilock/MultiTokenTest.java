package io.mortise.it.multilock;

import static io.mortise.it.support.ProxiedServers.tokenKey;
import static io.mortise.it.support.SharedRedis.calling;
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

/** One fencing token for all members: above the earlier and below the later of each of them. */
@Timeout(60)
class MultiTokenTest {
  private static final long FUTURE = 1L << 52;

  @RegisterExtension static final MemberServers servers = new MemberServers(3);

  private static long tokenOf(DistributedLock lock) {
    try (Lease lease = lock.tryAcquire().orElseThrow()) {
      return lease.fencingToken();
    }
  }

  private static void setToken(int server, long token) {
    servers.server(server).command("SET", tokenKey(servers.name(server)), Long.toString(token));
  }

  private static void assertRising(long... tokens) {
    for (int i = 1; i < tokens.length; i++) {
      assertTrue(tokens[i] > tokens[i - 1], Arrays.toString(tokens));
    }
    assertTrue(tokens[tokens.length - 1] < 1L << 53);
  }

  @Test
  void itIsTheTokenOfEachMember() {
    setToken(1, FUTURE);
    MultiLock lock = servers.multi();
    lock.lock();
    long token = lock.lease().fencingToken();
    for (int i = 0; i < 3; i++) {
      assertEquals(token, servers.lock(i).lease().fencingToken());
      assertEquals(
          Long.toString(token), servers.server(i).command("GET", tokenKey(servers.name(i))));
    }
    lock.unlock();
  }

  @Test
  void itIsLargerThanEachEarlierOneOfAMemberEvenIfOneServerIsFarAhead() {
    setToken(2, FUTURE);
    long first = tokenOf(servers.other(2));
    long all = tokenOf(servers.multi());
    long member = tokenOf(servers.lock(0));
    long pair = tokenOf(new MultiLock(servers.other(1), servers.other(0)));
    long again = tokenOf(servers.otherMulti());
    assertRising(FUTURE, first, all, member, pair, again);
  }

  @Test
  void itIsSmallerThanThatOfEachLaterHolderOfAMemberThatWasBehind() {
    setToken(0, FUTURE);
    long all = tokenOf(servers.multi());
    assertRising(FUTURE, all, tokenOf(servers.other(1)));
    assertRising(all, tokenOf(servers.other(2)));
    assertRising(all, tokenOf(servers.other(0)));
  }

  @Test
  void membersOfOneServerHaveOneTokenFromOneRoundTrip() {
    RedisLock a = new RedisLock(servers.here(0), servers.name(0) + ":a");
    RedisLock b = new RedisLock(servers.here(0), servers.name(0) + ":b");
    servers.server(0).command("SET", tokenKey(b.name()), Long.toString(FUTURE));
    long both = tokenOf(new MultiLock(a, b));
    assertRising(FUTURE, both, tokenOf(a));
    assertRising(both, tokenOf(b));
  }

  @Test
  void membersOfAllFamiliesShareIt() {
    String name = servers.name(0);
    RedisFairLock fair = new RedisFairLock(servers.here(0), name + ":fair");
    DistributedLock write = new RedisReadWriteLock(servers.here(0), name + ":rw").writeLock();
    DistributedLock read = new RedisReadWriteLock(servers.here(0), name + ":rw").readLock();
    servers.server(0).command("SET", tokenKey(name + ":rw"), Long.toString(FUTURE));
    long withWriter = tokenOf(new MultiLock(servers.lock(1), fair, write));
    assertRising(FUTURE, withWriter, tokenOf(fair));
    assertRising(withWriter, tokenOf(servers.other(1)));
    long withReader = tokenOf(new MultiLock(read, servers.lock(1)));
    assertTrue(withReader > withWriter);
    assertRising(withReader, tokenOf(write));
  }

  @Test
  void aMemberThatThisThreadHoldsAlreadyIsRaisedWithTheOthers() {
    servers.lock(0).lock();
    long before = servers.lock(0).lease().fencingToken();
    setToken(1, FUTURE);
    servers.multi().lock();
    long all = servers.multi().lease().fencingToken();
    assertRising(before, FUTURE, all);
    assertEquals(all, servers.lock(0).lease().fencingToken(), "raised");
    servers.multi().unlock();
    servers.lock(0).unlock();
    assertRising(all, tokenOf(servers.other(0)));
  }

  @Test
  void aServerThatCannotRaiseItsTokenIsNotPartOfAHold() {
    setToken(1, FUTURE);
    servers.proxy(0).loseReplies(Integer.MAX_VALUE, LossStyle.SILENT, calling("lock/raise"));
    assertThrows(LockException.class, () -> servers.multi().tryLock());
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void tokensRiseOverManyCombinations() {
    Random random = new Random(7);
    Map<Integer, Long> last = new HashMap<>();
    for (int round = 0; round < 60; round++) {
      int members = 1 + random.nextInt(7); // a set of the three, as bits
      List<Integer> chosen =
          IntStream.range(0, 3).filter(i -> (members & (1 << i)) != 0).boxed().toList();
      boolean here = random.nextBoolean();
      long token =
          tokenOf(
              new MultiLock(
                  chosen.stream().map(i -> here ? servers.lock(i) : servers.other(i)).toList()));
      for (int member : chosen) {
        assertTrue(token > last.getOrDefault(member, 0L), () -> member + ": " + last);
        last.put(member, token);
      }
    }
  }
}
