package io.mortise.it.peers;

import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** One server, two clients of ours on it, and a client of each version of Redisson. */
final class VersionedPeers extends TwoClients {
  /** The lease of a hold of either kind; a message that is lost costs a waiter as much. */
  static final Duration LEASE = Duration.ofMinutes(1);

  private final Duration watchdog;
  private final Map<RedissonVersion, RedissonPeer> peers = new ConcurrentHashMap<>();

  VersionedPeers() {
    this(LEASE, LEASE);
  }

  /** Ours hold for the lease, Redisson's for the watchdog time; both renew it. */
  VersionedPeers(Duration lease, Duration watchdog) {
    super(lease);
    this.watchdog = watchdog;
  }

  /** Returns the client of that version. */
  RedissonPeer of(RedissonVersion version) {
    return peers.computeIfAbsent(version, it -> connect(it, watchdog));
  }

  /** Returns a new client of that version, which renews its holds to that time. */
  RedissonPeer connect(RedissonVersion version, Duration watchdog) {
    return RedissonPeer.connect(version, server().uri(), watchdog);
  }

  long pttl(String key) {
    return (Long) server().command("PTTL", key);
  }

  @Override
  public void close() {
    peers.values().forEach(RedissonPeer::close);
    peers.clear();
    super.close();
  }
}
