package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import redis.clients.jedis.RedisClient;

/**
 * The locks of a client process, on lock clients that {@link #reopen} closes and replaces while
 * threads use them.
 *
 * <p><b>Threads.</b> Any thread asks for entries and forces; one thread reopens and closes.
 */
final class ClientLocks {
  private static final int FORCED = 5;
  private static final int FRESH_NAMES = 50;
  private static final long MAX_GAP_NANOS = 40_000_000;

  private final Family family;
  private final ClientOptions options;
  private final Duration lease;
  private final List<String> uris;
  private final LockOptions lockOptions;
  private final List<RedisClient> callersJedis;
  private volatile List<LockClient> clients;

  /**
   * Whether the pools of the caller may have lost connections: commons-pool forgets one when it
   * runs out of memory in the middle of lending it or taking it back.
   */
  private boolean poolsMayLack;

  /**
   * Creates the clients.
   *
   * @param lease of the holds that are not renewed
   * @param onCallersJedis whether the clients use the pools of Jedis clients of the caller's
   */
  ClientLocks(
      Family family,
      ClientOptions options,
      Duration lease,
      int maxHandOffs,
      List<String> uris,
      boolean onCallersJedis) {
    this.family = family;
    this.options = options;
    this.lease = lease;
    this.uris = uris;
    this.lockOptions = options.lockOptions(lease, maxHandOffs);
    this.callersJedis =
        onCallersJedis ? uris.stream().map(RedisClient::create).toList() : List.of();
    this.clients = open();
  }

  private List<LockClient> open() {
    return callersJedis.isEmpty()
        ? uris.stream().map(uri -> LockClient.create(uri, lockOptions)).toList()
        : callersJedis.stream().map(jedis -> LockClient.create(jedis, lockOptions)).toList();
  }

  LockOptions lockOptions() {
    return lockOptions;
  }

  /** Returns the lease of the holds that are not renewed. */
  Duration lease() {
    return lease;
  }

  /** Returns the ways into the section of that name, on the present clients. */
  List<SectionEntry> entries(String name) {
    return family.entries(clients, options, name);
  }

  /** Notes that allocations may have failed. */
  void heapWasFull() {
    poolsMayLack = !callersJedis.isEmpty();
  }

  /** Replaces the clients, and closes the former ones, whatever their threads do. */
  List<LockClient> reopen() {
    List<LockClient> former = clients;
    clients = open();
    former.forEach(LockClient::close);
    return former;
  }

  /** Forces the lock of that name, several times. */
  void force(String name, CurrentTask currentTask, Random random) throws InterruptedException {
    for (int i = 0; i < FORCED; i++) {
      List<SectionEntry> entries = entries(name);
      try {
        entries.get(random.nextInt(family.forcible(entries))).lock().forceUnlock();
      } catch (LockException e) {
        System.out.println("not forced: " + e.getMessage());
      }
      currentTask.pause(random.nextLong(MAX_GAP_NANOS));
    }
  }

  /**
   * Locks and unlocks many names once, so that what a name leaves adds up. A node that answers
   * later than its wait budget leaves a release unconfirmed; the client goes on with it, and {@link
   * #awaitIdle} asks for its end.
   */
  void useFreshNames(Random random) {
    for (int i = 0; i < FRESH_NAMES; i++) {
      for (SectionEntry entry : entries("fresh:" + random.nextLong())) {
        entry.lock().lock();
        try {
          entry.lock().unlock();
        } catch (LockException unconfirmed) {
          System.out.println("released later: " + unconfirmed.getMessage());
        }
      }
    }
  }

  /**
   * Waits until the client uses nothing. The release of an attempt whose reply was lost is repeated
   * until the attempt cannot take effect any more, for a lease: a default one is not waited for.
   */
  private void awaitIdle(LockClient client) {
    Eventually.untilAsserted(
        "the client is idle",
        () -> {
          LockClient.Status status = client.status();
          int repeated = options == ClientOptions.DEFAULTS ? status.pendingReleases() : 0;
          int lacking = poolsMayLack ? status.connectionsInUse() : 0;
          assertEquals(
              List.of(0, 0, 0, repeated, repeated, lacking),
              List.of(
                  status.holds(),
                  status.contended(),
                  status.channels(),
                  status.pendingReleases(),
                  status.scheduled(),
                  status.connectionsInUse()),
              status::toString);
        });
  }

  /** Waits until no client uses anything, and closes them; returns what they have left. */
  List<String> close() {
    List<String> left = new ArrayList<>();
    for (LockClient client : clients) {
      Left.of(() -> awaitIdle(client)).ifPresent(left::add);
      client.close();
    }
    for (RedisClient jedis : callersJedis) {
      int lent = jedis.getPool().getNumActive();
      if (lent > 0 && !poolsMayLack) {
        left.add(lent + " connections of the caller's pool");
      }
      jedis.close();
    }
    return left;
  }
}
