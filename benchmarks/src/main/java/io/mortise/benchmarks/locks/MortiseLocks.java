package io.mortise.benchmarks.locks;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.List;

/**
 * Mortise with its defaults, observed as the {@link Observer} of this JVM says.
 *
 * <p><b>Threads.</b> Any thread may call any method: the list is immutable, and all threads of the
 * process share its clients.
 */
public final class MortiseLocks implements Locks {
  private final List<LockClient> clients;

  MortiseLocks(List<String> uris) {
    clients = uris.stream().map(Observer.ofThisJvm()::connect).toList();
  }

  @Override
  public Section section(MeasuredLock kind, List<String> names, NameSharing sharing) {
    return kind == MeasuredLock.WRITE_ATTEMPT
        ? new RefusedAttempt(lock(MeasuredLock.WRITE, names))
        : new LockSection(lock(kind, names));
  }

  private DistributedLock lock(MeasuredLock kind, List<String> names) {
    LockClient client = clients.get(0);
    String name = names.get(0);
    return switch (kind) {
      case PLAIN -> new RedisLock(client, name);
      case FAIR -> new RedisFairLock(client, name);
      case WRITE -> new RedisReadWriteLock(client, name).writeLock();
      case READ -> new RedisReadWriteLock(client, name).readLock();
      case WRITE_ATTEMPT ->
          throw new IllegalArgumentException("an attempt is a section of its own");
      case MULTI -> new MultiLock(names.stream().map(each -> new RedisLock(client, each)).toList());
      case QUORUM -> RedLock.builder().members(name, clients).build();
    };
  }
}
