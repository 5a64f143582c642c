package io.mortise.it.peers;

import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A client of one version of Redisson, by reflection: the tests are compiled against the newest
 * version, whose types an older one does not share. Its locks are locks of the JDK.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class RedissonPeer implements AutoCloseable {
  private final Object client;

  private RedissonPeer(Object client) {
    this.client = client;
  }

  /** Connects a client that renews its holds to the watchdog time, every third of it. */
  public static RedissonPeer connect(RedissonVersion version, String uri, Duration watchdog) {
    try {
      Class<?> type = version.load("org.redisson.config.Config");
      Object config = type.getConstructor().newInstance();
      call(config, "setThreads", int.class, 4);
      call(config, "setNettyThreads", int.class, 4);
      call(config, "setLockWatchdogTimeout", long.class, watchdog.toMillis());
      Object server = call(config, "useSingleServer");
      call(server, "setAddress", String.class, uri);
      call(server, "setConnectionMinimumIdleSize", int.class, 1);
      call(server, "setConnectionPoolSize", int.class, 16);
      call(server, "setSubscriptionConnectionMinimumIdleSize", int.class, 1);
      Class<?> redisson = version.load("org.redisson.Redisson");
      return new RedissonPeer(redisson.getMethod("create", type).invoke(null, config));
    } catch (ReflectiveOperationException e) {
      throw failure("create", e);
    }
  }

  public Lock lock(String name) {
    return (Lock) call(client, "getLock", String.class, name);
  }

  public Lock fairLock(String name) {
    return (Lock) call(client, "getFairLock", String.class, name);
  }

  public ReadWriteLock readWriteLock(String name) {
    return (ReadWriteLock) call(client, "getReadWriteLock", String.class, name);
  }

  /** Acquires and releases an {@code RFencedLock}, which 3.16 does not have; returns its token. */
  long fencingToken(String name) {
    Object lock = call(client, "getFencedLock", String.class, name);
    long token = (Long) call(lock, "lockAndGetToken");
    ((Lock) lock).unlock();
    return token;
  }

  /** Ends the client. Its holds are neither renewed any more nor released. */
  @Override
  public void close() {
    try {
      client
          .getClass()
          .getMethod("shutdown", long.class, long.class, TimeUnit.class)
          .invoke(client, 0L, 5L, TimeUnit.SECONDS);
    } catch (ReflectiveOperationException e) {
      throw failure("shutdown", e);
    }
  }

  private static Object call(Object target, String method) {
    try {
      return target.getClass().getMethod(method).invoke(target);
    } catch (ReflectiveOperationException e) {
      throw failure(method, e);
    }
  }

  private static Object call(Object target, String method, Class<?> type, Object argument) {
    try {
      return target.getClass().getMethod(method, type).invoke(target, argument);
    } catch (ReflectiveOperationException e) {
      throw failure(method, e);
    }
  }

  private static IllegalStateException failure(String method, ReflectiveOperationException e) {
    return new IllegalStateException(
        method, e instanceof InvocationTargetException ? e.getCause() : e);
  }
}
