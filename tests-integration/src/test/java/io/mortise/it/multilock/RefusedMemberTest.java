package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
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
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/**
 * A member that cannot be acquired at all: reported at once, whatever the wait; nothing is held.
 */
@Timeout(60)
class RefusedMemberTest {
  private static final int REFUSED = 1;

  @RegisterExtension static final MemberServers servers = new MemberServers(3);

  private static void assertRefused(Reason reason, MultiLock lock) {
    for (Executable call :
        List.<Executable>of(
            lock::tryLock,
            lock::lock,
            () -> lock.tryLock(HOUR),
            lock::tryAcquire,
            () -> lock.acquire(HOUR))) {
      LockException thrown = assertThrows(LockException.class, call);
      assertEquals(reason, thrown.reason(), thrown::toString);
      assertTrue(thrown.toString().contains(servers.name(REFUSED)), thrown::toString);
    }
    assertTrue(!servers.isHeld(0) && !servers.isHeld(2));
    assertEquals(0, lock.holdCount());
    assertEquals(0, servers.lock(0).holdCount());
  }

  @Test
  void itsKeyIsNoLock() {
    servers.server(REFUSED).command("SET", servers.name(REFUSED), "text");
    assertRefused(Reason.WRONG_TYPE, servers.multi());
    assertEquals("text", servers.server(REFUSED).command("GET", servers.name(REFUSED)));
    servers.server(REFUSED).command("DEL", servers.name(REFUSED));
  }

  @Test
  void itsKeyIsALockOfAnotherKind() throws Exception {
    RedisReadWriteLock rw = new RedisReadWriteLock(servers.there(REFUSED), servers.name(REFUSED));
    rw.readLock().lock();
    assertRefused(Reason.WRONG_TYPE, servers.multi());
    rw.readLock().unlock();
    assertTrue(servers.multi().tryLock());
    servers.multi().unlock();
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
    Stream<String> user = Stream.of("ACL", "SETUSER", "restricted", "reset", "on", ">pw");
    servers
        .server(REFUSED)
        .command(Stream.concat(user, Arrays.stream(rules)).toArray(String[]::new));
    String uri = "redis://restricted:pw@127.0.0.1:" + servers.server(REFUSED).port();
    LockClient restricted = servers.client(uri, MemberServers.options().build());
    MultiLock lock =
        new MultiLock(
            servers.lock(0), new RedisLock(restricted, servers.name(REFUSED)), servers.lock(2));
    assertRefused(Reason.ACCESS_DENIED, lock);
    assertEquals(Set.of(), servers.held());
    servers.awaitIdle();
  }

  @Test
  void itsClientWasClosed() throws Exception {
    servers.here(REFUSED).close();
    assertRefused(Reason.CLIENT_CLOSED, servers.multi());
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void itsClientIsClosedDuringTheWaitForIt() throws Exception {
    servers.holdAsStranger(REFUSED);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> servers.multi().tryLock(HOUR));
    servers.awaitFirstAcquired();

    servers.here(REFUSED).close();

    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(Set.of(REFUSED), servers.held(), "the stranger's");
  }

  @Test
  void theClientOfAnAcquiredMemberIsClosedDuringTheWaitForAnother() throws Exception {
    servers.holdAsStranger(2);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> servers.multi().tryLock(HOUR));
    servers.awaitFirstAcquired();

    servers.here(REFUSED).close();
    servers.releaseAsStranger(2);

    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(Set.of(), servers.held());
  }
}
