package io.mortise.it.replicas;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentProtocols;
import io.mortise.segmentedlock.SegmentedLock;
import java.util.List;

/** A lock of each family that one client can hold. */
final class AllFamilies {
  private AllFamilies() {}

  static List<DistributedLock> of(LockClient client, String name) {
    return List.of(
        new RedisLock(client, name + ":plain"),
        new RedisFairLock(client, name + ":fair"),
        new RedisReadWriteLock(client, name + ":read").readLock(),
        new RedisReadWriteLock(client, name + ":write").writeLock(),
        new SegmentedLock(client, name + ":segmented", 2).segment(1),
        SegmentProtocols.any(client, name + ":any", 1), // of one, so that its hold is all of them
        new MultiLock(new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b")));
  }
}
