package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.UnifiedJedis;

/**
 * Two clients that share only the servers.
 *
 * @param more closes what the clients use, in this order
 */
record Clients(LockClient here, LockClient there, List<Runnable> more) implements AutoCloseable {

  /** Creates both with the lease that the contracts expect. */
  static Clients of(
      Function<LockOptions, LockClient> here,
      Function<LockOptions, LockClient> there,
      Runnable... more) {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
    return new Clients(here.apply(options), there.apply(options), List.of(more));
  }

  /** Creates one by URI with RESP2, and one on a Jedis client with RESP3 and that password. */
  static Clients byUriAndOnJedis(
      String uri, String password, Function<JedisClientConfig, UnifiedJedis> jedis, Runnable more) {
    UnifiedJedis there =
        jedis.apply(
            DefaultJedisClientConfig.builder()
                .password(password)
                .protocol(RedisProtocol.RESP3)
                .build());
    return of(
        options -> LockClient.create(uri, options),
        options -> LockClient.create(there, options),
        there::close,
        more);
  }

  /** Creates both on Jedis clients, one with RESP3 and one with RESP2. */
  static Clients onJedis(Function<RedisProtocol, UnifiedJedis> jedis, Runnable more) {
    UnifiedJedis here = jedis.apply(RedisProtocol.RESP3);
    UnifiedJedis there = jedis.apply(RedisProtocol.RESP2);
    return of(
        options -> LockClient.create(here, options),
        options -> LockClient.create(there, options),
        here::close,
        there::close,
        more);
  }

  @Override
  public void close() {
    here.close();
    there.close();
    more.forEach(Runnable::run);
  }
}
