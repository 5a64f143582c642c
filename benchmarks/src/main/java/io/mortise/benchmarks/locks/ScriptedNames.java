package io.mortise.benchmarks.locks;

import static io.mortise.benchmarks.locks.ScriptedSection.bytes;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/** A section of several names: one EVALSHA acquires them, one pipeline releases them. */
final class ScriptedNames implements Section {
  private static final Script ACQUIRE = Script.load("lock/acquire_all");
  private static final Script RELEASE = Script.load("lock/release");

  private final Jedis jedis;
  private final byte[] acquireSha1;
  private final byte[] releaseSha1;
  private final List<byte[]> keys = new ArrayList<>();
  private final List<List<byte[]>> releaseKeys = new ArrayList<>();
  private final String prefix = UUID.randomUUID() + ":";
  private byte[] holder = new byte[0];
  private long count;

  ScriptedNames(Jedis jedis, List<String> names) {
    this.jedis = jedis;
    acquireSha1 = jedis.scriptLoad(ACQUIRE.text());
    releaseSha1 = jedis.scriptLoad(RELEASE.text());
    for (String each : names) {
      LockName name = new LockName(each);
      keys.addAll(List.of(bytes(each), bytes(name.tokenKey())));
      releaseKeys.add(
          List.of(
              bytes(each),
              bytes(name.derive("redisson_lock__channel")),
              bytes(name.forcedKey()),
              bytes(name.waitersKey())));
    }
  }

  @Override
  public void enter() {
    holder = bytes(prefix + ++count);
    List<byte[]> arguments = new ArrayList<>();
    for (int i = 0; i < releaseKeys.size(); i++) {
      arguments.addAll(
          List.of(
              holder,
              bytes(LockOptions.defaults().lease().toMillis()),
              bytes(LockOptions.defaults().tuning().tokenRetention().toMillis())));
    }
    requireOne(jedis.evalsha(acquireSha1, keys, arguments));
  }

  @Override
  public void leave() {
    List<Response<Object>> answers = new ArrayList<>();
    try (Pipeline pipeline = jedis.pipelined()) {
      for (List<byte[]> each : releaseKeys) {
        answers.add(pipeline.evalsha(releaseSha1, each, List.of(holder, bytes("PUBLISH"))));
      }
    }
    answers.forEach(answer -> requireOne(answer.get()));
  }

  private static void requireOne(Object answer) {
    if (!Long.valueOf(1).equals(((List<?>) answer).get(0))) {
      throw new IllegalStateException("a script of several names answers " + answer);
    }
  }
}
