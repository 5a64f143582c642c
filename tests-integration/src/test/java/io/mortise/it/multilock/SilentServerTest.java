package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.ServerFault.PAUSED;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that is silent does not keep the members on other servers held. */
@Timeout(60)
class SilentServerTest {
  private static final Duration TIMEOUT = Eventually.LIVENESS.multipliedBy(2);

  @RegisterExtension static final MemberServers servers = new MemberServers(3, TIMEOUT);

  /** The members of a MultiLock. */
  enum Members {
    PLAIN,
    READ;

    MultiLock lock() {
      List<DistributedLock> members = IntStream.range(0, 3).mapToObj(this::member).toList();
      return new MultiLock(members);
    }

    private DistributedLock member(int i) {
      return this == PLAIN
          ? servers.lock(i)
          : new RedisReadWriteLock(servers.here(i), servers.name(i)).readLock();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReleaseWaitsForTheSilentOneAlone(Members members) throws Exception {
    Lease lease = members.lock().acquire(Duration.ZERO, HOUR).orElseThrow();
    servers.begin(PAUSED, 0);

    AsyncCall<Void> closing = AsyncCall.run(lease::close);

    until("the others are free", () -> !servers.isHeld(1) && !servers.isHeld(2));
    assertFalse(closing.isDone(), "it waits for the reply of the first");
    servers.restore();
    closing.get();
    servers.awaitHeld(Set.of());
  }

  @ParameterizedTest
  @EnumSource
  void aLossReleasesTheOthersAtOnce(Members members) throws Exception {
    Lease lease = members.lock().acquire(Duration.ZERO, HOUR).orElseThrow();
    servers.begin(PAUSED, 0);

    members.member(1).forceUnlock();

    until("it is lost", () -> !lease.isValid());
    until("the others are free", () -> !servers.isHeld(1) && !servers.isHeld(2));
    servers.restore();
    servers.awaitHeld(Set.of());
  }
}
