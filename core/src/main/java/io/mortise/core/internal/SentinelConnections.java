package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockOptions;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * The client's own connections to whichever server the sentinels call the master.
 *
 * <p>Who is master is Jedis' to find out: it asks the sentinels, and listens to them on threads of
 * its own, from the first use on. The connections are those of {@link OwnConnections}, one pool for
 * each master; that of a former master is closed when the next one is seen, and what is borrowed
 * from it breaks, or is closed when it is given back.
 *
 * <p><b>Threads.</b> {@code lock} guards the changes; a borrower reads the current pool without it.
 */
final class SentinelConnections implements ConnectionSource {
  private final String masterName;
  private final Set<HostAndPort> sentinels;
  private final JedisClientConfig config;
  private final JedisClientConfig sentinelConfig;
  private final LockOptions options;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private @Nullable SentineledConnectionProvider provider;

  private volatile @Nullable Master current;
  private volatile boolean closed;

  /** One master and the connections to it. */
  private record Master(HostAndPort server, OwnConnections connections) {}

  SentinelConnections(
      String masterName,
      Set<HostAndPort> sentinels,
      JedisClientConfig config,
      JedisClientConfig sentinelConfig,
      LockOptions options) {
    this.masterName = masterName;
    this.sentinels = sentinels;
    this.config = config;
    this.sentinelConfig = sentinelConfig;
    this.options = options;
  }

  private OwnConnections master() {
    HostAndPort server = provider().getCurrentMaster();
    if (server == null) {
      throw new JedisConnectionException("the sentinels name no master '" + masterName + "'");
    }
    Master known = current;
    if (known != null && known.server().equals(server)) {
      return known.connections();
    }
    lock.lock();
    try {
      ensureOpen();
      known = current;
      if (known == null || !known.server().equals(server)) {
        if (known != null) {
          known.connections().close();
        }
        known = new Master(server, new OwnConnections(server, config, options));
        current = known;
      }
      return known.connections();
    } finally {
      lock.unlock();
    }
  }

  /** Asks the sentinels at the first use, and again if none of them answered then. */
  private SentineledConnectionProvider provider() {
    lock.lock();
    try {
      ensureOpen();
      if (provider == null) {
        provider = new SentineledConnectionProvider(masterName, config, sentinels, sentinelConfig);
      }
      return provider;
    } finally {
      lock.unlock();
    }
  }

  private void ensureOpen() {
    if (closed) {
      throw new JedisConnectionException("the client was closed");
    }
  }

  @Override
  public Loan borrow(long deadlineNanos) throws InterruptedException {
    return master().borrow(deadlineNanos);
  }

  @Override
  public Connection connect() {
    return master().connect();
  }

  @Override
  public void dropIdle() {
    Master known = current;
    if (known != null) {
      known.connections().dropIdle();
    }
  }

  @Override
  public boolean mayBecomeAnother() {
    return true;
  }

  /** Looks at what the sentinels have said since; asks nobody. */
  @Override
  public @Nullable Object server() {
    if (current != null && !closed) {
      try {
        master();
      } catch (JedisConnectionException e) {
        Engine.LOG.debug("no master is known at the moment", e);
      }
    }
    Master known = current;
    return known == null ? null : known.server();
  }

  @Override
  public int inUse() {
    Master known = current;
    return known == null ? 0 : known.connections().inUse();
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (provider != null) {
        provider.close();
      }
      Master known = current;
      if (known != null) {
        known.connections().close();
      }
    } finally {
      lock.unlock();
    }
  }
}
