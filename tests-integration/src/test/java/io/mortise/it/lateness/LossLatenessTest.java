package io.mortise.it.lateness;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A loss is reported when the local deadline is over, before a rival can have the lock: for every
 * kind of lock, with default options, renewed or not, with Redis reachable or not. The tests run
 * beside each other: each of them waits for leases to end most of the time.
 */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
@Tag("alone") // it measures
class LossLatenessTest {
  private static final int ROUNDS = 4;
  private static final int HOLDS_EACH = 25;
  private static final int RENEWED_EACH = 10;

  /** A hundredth of it, and 2 ms, lie between the deadline and the end in Redis. */
  private static final Duration LEASE = Duration.ofSeconds(4);

  private static final int SPREAD_MILLIS = 2_000;

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();
  private final List<LockClient> holders = new ArrayList<>();
  private final List<LockClient> rivals = new ArrayList<>();

  @BeforeEach
  void open() {
    for (int i = 0; i < 3; i++) {
      RedisServer server = RedisServer.start();
      servers.add(server);
      FaultProxy proxy = FaultProxy.to(server);
      proxies.add(proxy);
      holders.add(LockClient.create(proxy.uri()));
      rivals.add(LockClient.create(server.uri()));
    }
  }

  @AfterEach
  void close() {
    proxies.forEach(FaultProxy::restore);
    holders.forEach(LockClient::close);
    rivals.forEach(LockClient::close);
    proxies.forEach(FaultProxy::close);
    servers.forEach(RedisServer::close);
  }

  @Test
  void aLeaseThatRunsOutIsReportedAtItsDeadline() throws Exception {
    Random random = new Random(20261122);
    for (int round = 0; round < ROUNDS; round++) {
      try (Losses losses = new Losses()) {
        for (int i = 0; i < HOLDS_EACH; i++) {
          for (ExpiringLock kind : ExpiringLock.values()) {
            String name = Names.fresh();
            Duration lease = LEASE.plusMillis(random.nextInt(SPREAD_MILLIS));
            Lease held = kind.lock(holders, name).acquire(Eventually.LIVENESS, lease).orElseThrow();
            losses.watch(kind, held, kind.rival(rivals, name));
          }
        }
        losses.check("fixed leases, round " + round, Duration.ofSeconds(60));
      }
    }
  }

  @Test
  void aRenewedHoldIsReportedLostBeforeARivalHasItWhileRedisCannotBeReached() throws Exception {
    try (Losses losses = new Losses()) {
      for (int i = 0; i < RENEWED_EACH; i++) {
        for (ExpiringLock kind : ExpiringLock.values()) {
          String name = Names.fresh();
          Lease held = kind.lock(holders, name).acquire(Eventually.LIVENESS).orElseThrow();
          losses.watch(kind, held, kind.rival(rivals, name));
        }
      }
      proxies.forEach(proxy -> proxy.blackhole(Direction.TO_SERVER));
      losses.check("renewed holds, Redis unreachable", Duration.ofSeconds(90));
    }
  }
}
