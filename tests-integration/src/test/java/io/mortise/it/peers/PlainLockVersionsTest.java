package io.mortise.it.peers;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The plain lock beside {@code RLock}. */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(RedissonVersion.class)
class PlainLockVersionsTest extends PeerLockContract {
  private final String name = Names.fresh();

  PlainLockVersionsTest(RedissonVersion version) {
    super(version);
  }

  @Override
  Lock theirs(RedissonPeer client) {
    return client.lock(name);
  }

  @Override
  DistributedLock ours(LockClient client) {
    return new RedisLock(client, name);
  }
}
