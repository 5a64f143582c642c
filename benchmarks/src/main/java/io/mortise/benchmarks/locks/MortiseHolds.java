package io.mortise.benchmarks.locks;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Leases of one {@link LockClient}. */
final class MortiseHolds implements Holds {
  private final LockClient client;
  private final List<Lease> leases = new ArrayList<>();

  MortiseHolds(String uri, Duration lease) {
    client = LockClient.create(uri, LockOptions.builder().lease(lease).build());
  }

  @Override
  public void take(String prefix, int count) {
    for (int i = 0; i < count; i++) {
      leases.add(new RedisLock(client, prefix + i).tryAcquire().orElseThrow());
    }
  }

  @Override
  public Section section(MeasuredLock kind, String name) {
    return new LockSection(
        kind == MeasuredLock.READ
            ? new RedisReadWriteLock(client, name).readLock()
            : new RedisLock(client, name));
  }

  @Override
  public int lost() {
    return (int) leases.stream().filter(lease -> !lease.isValid()).count();
  }
}
