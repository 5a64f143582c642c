package io.mortise.benchmarks.locks;

import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/**
 * Redisson with its defaults. On several servers its time-outs are short and nothing is repeated:
 * by default one cycle takes 14 to 30 s when one of five servers is silent.
 *
 * <p><b>Threads.</b> Any thread may call any method: the list is immutable, and all threads of the
 * process share its clients.
 */
public final class RedissonLocks implements Locks {
  private static final int TIMEOUT_MILLIS = 500;
  private static final int CROWD_THREADS = 2;

  private final List<RedissonClient> clients;

  RedissonLocks(List<String> uris) {
    this(uris.stream().map(uri -> config(uri, uris.size() > 1)));
  }

  private RedissonLocks(Stream<Config> configs) {
    clients = configs.map(Redisson::create).toList();
  }

  /**
   * One of many clients of a JVM: with few threads, and with connections as it needs them. By
   * default each client has up to 48 threads and opens 25 connections at its start.
   */
  static RedissonLocks inCrowd(List<String> uris) {
    Config config = config(uris.get(0), false);
    config.setThreads(CROWD_THREADS).setNettyThreads(CROWD_THREADS);
    config.useSingleServer().setConnectionMinimumIdleSize(1);
    return new RedissonLocks(Stream.of(config));
  }

  /** The configuration for one server. */
  static Config config(String uri, boolean impatient) {
    Config config = new Config();
    SingleServerConfig server = config.useSingleServer().setAddress(uri);
    if (impatient) {
      server.setTimeout(TIMEOUT_MILLIS).setConnectTimeout(TIMEOUT_MILLIS).setRetryAttempts(0);
    }
    return config;
  }

  @Override
  public Section section(MeasuredLock kind, List<String> names, NameSharing sharing) {
    return kind == MeasuredLock.WRITE_ATTEMPT
        ? new RefusedAttempt(lock(MeasuredLock.WRITE, names))
        : new LockSection(lock(kind, names));
  }

  @SuppressWarnings("deprecation") // RedissonRedLock is what Redisson has for a majority
  private Lock lock(MeasuredLock kind, List<String> names) {
    RedissonClient client = clients.get(0);
    String name = names.get(0);
    return switch (kind) {
      case PLAIN -> client.getLock(name);
      case FAIR -> client.getFairLock(name);
      case WRITE -> client.getReadWriteLock(name).writeLock();
      case READ -> client.getReadWriteLock(name).readLock();
      case WRITE_ATTEMPT ->
          throw new IllegalArgumentException("an attempt is a section of its own");
      case MULTI -> client.getMultiLock(names.stream().map(client::getLock).toArray(RLock[]::new));
      case QUORUM ->
          new RedissonRedLock(
              clients.stream().map(each -> each.getLock(name)).toArray(RLock[]::new));
    };
  }
}
