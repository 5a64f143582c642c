package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/**
 * A member that will never be had: that is told at once, whatever the wait, and nothing is held.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class RefusedMemberTest {
  private static final int REFUSED = 1;

  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  private static void assertRefused(Reason reason, MultiLock lock) {
    for (Executable call :
        List.<Executable>of(
            lock::tryLock,
            lock::lock,
            () -> lock.tryLock(MemberServers.HOUR),
            lock::tryAcquire,
            () -> lock.acquire(MemberServers.HOUR))) {
      LockException thrown = assertThrows(LockException.class, call);
      assertEquals(reason, thrown.reason(), thrown::toString);
      assertTrue(thrown.toString().contains(sites.name(REFUSED)), thrown::toString);
    }
    assertTrue(!sites.isHeld(0) && !sites.isHeld(2));
    assertEquals(0, lock.holdCount());
    assertEquals(0, sites.lock(0).holdCount());
  }

  @Test
  void itsKeyIsNoLock() {
    sites.server(REFUSED).command("SET", sites.name(REFUSED), "text");
    assertRefused(Reason.WRONG_TYPE, sites.multi());
    assertEquals("text", sites.server(REFUSED).command("GET", sites.name(REFUSED)));
    sites.awaitIdle();
  }

  @Test
  void itsKeyIsALockOfAnotherKind() throws Exception {
    RedisReadWriteLock rw = new RedisReadWriteLock(sites.there(REFUSED), sites.name(REFUSED));
    rw.readLock().lock();
    assertRefused(Reason.WRONG_TYPE, sites.multi());
    rw.readLock().unlock();
    assertTrue(sites.multi().tryLock());
    sites.multi().unlock();
    sites.awaitIdle();
  }

  @Test
  void itsUserMayNotUseTheKey() {
    assertDenied("~other:*", "&*", "+@all");
  }

  @Test
  void itsUserMayNotRunScripts() {
    assertDenied("~*", "&*", "+@all", "-evalsha");
  }

  @Test
  void itsUserMayNotDoWhatTheScriptDoes() {
    assertDenied("~*", "&*", "+@all", "-pexpire");
  }

  private static void assertDenied(String... rules) {
    String[] words = new String[rules.length + 6];
    String[] user = {"ACL", "SETUSER", "poor", "reset", "on", ">pw"};
    System.arraycopy(user, 0, words, 0, user.length);
    System.arraycopy(rules, 0, words, user.length, rules.length);
    sites.server(REFUSED).command(words);
    String uri = "redis://poor:pw@127.0.0.1:" + sites.server(REFUSED).port();
    try (LockClient poor = LockClient.create(uri, MemberServers.options().build())) {
      MultiLock lock =
          new MultiLock(sites.lock(0), new RedisLock(poor, sites.name(REFUSED)), sites.lock(2));
      assertRefused(Reason.ACCESS_DENIED, lock);
      assertEquals(Set.of(), sites.held());
      sites.awaitIdle();
    }
  }

  @Test
  void itsClientWasClosed() throws Exception {
    sites.here(REFUSED).close();
    assertRefused(Reason.CLIENT_CLOSED, sites.multi());
    assertEquals(Set.of(), sites.held());
  }

  @Test
  void itsClientIsClosedWhileItIsWaitedFor() throws Exception {
    sites.holdAsStranger(REFUSED);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> sites.multi().tryLock(MemberServers.HOUR));
    sites.awaitFirstTaken();

    sites.here(REFUSED).close();

    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(Set.of(REFUSED), sites.held(), "the stranger's");
  }

  @Test
  void theClientOfOneInHandIsClosedWhileAnotherIsWaitedFor() throws Exception {
    sites.holdAsStranger(2);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> sites.multi().tryLock(MemberServers.HOUR));
    sites.awaitFirstTaken();

    sites.here(REFUSED).close();
    sites.releaseAsStranger(2);

    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(Set.of(), sites.held());
  }
}
