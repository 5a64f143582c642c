package io.mortise.testkit;

import io.mortise.core.DistributedLock;
import java.time.Duration;

/**
 * The locks of one family, as the contracts of the testkit get them. A test class implements it
 * itself, or through an interface that the test classes of one family share:
 *
 * <pre>{@code
 * class RedisLockTest extends LockContract {
 *   private static RedisServer server;
 *   private static LockClient here;
 *   private static LockClient there;
 *
 *   @BeforeAll
 *   static void start() {
 *     server = RedisServer.start();
 *     LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
 *     here = LockClient.create(server.uri(), options);
 *     there = LockClient.create(server.uri(), options);
 *   }
 *
 *   @Override
 *   public DistributedLock lock(String name) {
 *     return new RedisLock(here, name);
 *   }
 *
 *   @Override
 *   public DistributedLock otherProcess(String name) {
 *     return new RedisLock(there, name);
 *   }
 *
 *   @AfterAll
 *   static void stop() { ... }
 * }
 * }</pre>
 */
public interface LockFamily {

  /** Returns an exclusive lock of that name, by the same client each time. */
  DistributedLock lock(String name);

  /**
   * Returns an exclusive lock of that name, by a second client that shares nothing with the first,
   * as in another process; the same one each time.
   */
  DistributedLock otherProcess(String name);

  /** Returns the name that a lock of that name reports; a lock made of others may name those. */
  default String nameOf(String name) {
    return name;
  }

  /**
   * Returns the default lease of both clients. The contracts wait for two of them where they show
   * that a lock is renewed, and expect a waiter that is woken within a third of one. It is long
   * enough that a machine renews in time although it stands still for a second.
   */
  default Duration lease() {
    return Duration.ofSeconds(3);
  }

  /**
   * Returns for how long a hold with that lease, which is not renewed, keeps others out at least. A
   * lock made of others may release them all when it counts as lost: by the drift of the clocks
   * before the end of the lease.
   */
  default Duration keepsOthersOut(Duration lease) {
    return lease;
  }
}
