package io.mortise.benchmarks.locks;

import java.net.URI;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import redis.clients.jedis.Jedis;

/**
 * Locks by bare commands: the cost of Redis and Jedis without an engine.
 *
 * <p>Uncontended, each thread sends Mortise's own scripts by EVALSHA over its own connection: the
 * server does the same work, with the lease, the fencing token and the message, and the client
 * none. Threads of one process that lock the same name exclude each other by a lock of {@code
 * java.util.concurrent} around that. Between processes it is a {@link ListSection}.
 *
 * <p><b>Threads.</b> Any thread may call any method; the concurrent maps give all threads the same
 * lock for a name. Each section has its own connection and is for one thread.
 */
public final class BareCommandLocks implements Locks {
  private final String uri;
  private final ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, ReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();

  BareCommandLocks(List<String> uris) {
    uri = uris.get(0);
  }

  @Override
  public Section section(MeasuredLock kind, List<String> names, NameSharing sharing) {
    Jedis jedis = new Jedis(URI.create(uri));
    String name = names.get(0);
    if (sharing == NameSharing.PROCESSES) {
      return new ListSection(jedis, name);
    }
    Section bare =
        switch (kind) {
          case PLAIN -> ScriptedSection.plain(jedis, name);
          case FAIR -> ScriptedSection.fair(jedis, name);
          case WRITE -> ScriptedSection.write(jedis, name);
          case READ -> ScriptedSection.read(jedis, name);
          case MULTI -> new ScriptedNames(jedis, names);
          case WRITE_ATTEMPT ->
              throw new IllegalArgumentException("Mortise and Redisson alone are measured");
          case QUORUM -> throw new IllegalArgumentException("a quorum is compared to one node");
        };
    if (sharing == NameSharing.NOBODY) {
      return bare;
    }
    return switch (kind) {
      case READ -> new Nested(new LockSection(readWrite(name).readLock()), bare);
      case WRITE -> new Nested(new LockSection(readWrite(name).writeLock()), bare);
      default ->
          new Nested(
              new LockSection(locks.computeIfAbsent(name, each -> new ReentrantLock())), bare);
    };
  }

  private ReadWriteLock readWrite(String name) {
    return readWriteLocks.computeIfAbsent(name, each -> new ReentrantReadWriteLock());
  }

  private record Nested(Section outer, Section inner) implements Section {
    @Override
    public void enter() {
      outer.enter();
      try {
        inner.enter();
      } catch (RuntimeException | Error e) {
        outer.leave();
        throw e;
      }
    }

    @Override
    public void leave() {
      try {
        inner.leave();
      } finally {
        outer.leave();
      }
    }
  }
}
