package io.mortise.benchmarks.locks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/**
 * A section by Mortise's scripts and bare EVALSHA. All arguments but the holder are encoded once. A
 * refused hold is an error, since no other client locks the name.
 */
final class ScriptedSection implements Section {
  private static final byte[] PUBLISH = bytes("PUBLISH");
  private static final byte[] LEASE = bytes(LockOptions.defaults().lease().toMillis());
  private static final byte[] TOKEN_IDLE =
      bytes(LockOptions.defaults().tuning().tokenRetention().toMillis());
  private static final byte[] ONE_TOKEN = bytes(1);
  private static final byte[] NO_TOKEN = bytes(0);
  private static final byte[] NOTHING_RESERVED = bytes(-1);
  private static final byte[] NO_RUN = bytes(0);
  private static final byte[] NOBODY_SERVED = bytes("");
  private static final byte[] DOES_NOT_WAIT = bytes(0);
  private static final byte[] WAITS = bytes(10_000);
  private static final byte[] NO_WRITER = new byte[0];

  private final Call acquire;
  private final Call release;
  private final String suffix;
  private final String prefix = UUID.randomUUID() + ":";
  private long count;

  private ScriptedSection(Call acquire, Call release, String suffix) {
    this.acquire = acquire;
    this.release = release;
    this.suffix = suffix;
  }

  static Section plain(Jedis jedis, String text) {
    LockName name = new LockName(text);
    byte[] lock = bytes(text);
    return new ScriptedSection(
        new Call(
            jedis,
            "lock/acquire",
            List.of(lock, bytes(name.tokenKey()), bytes(name.waitersKey())),
            List.of(LEASE, TOKEN_IDLE, ONE_TOKEN, DOES_NOT_WAIT)),
        new Call(
            jedis,
            "lock/release",
            List.of(
                lock,
                bytes(name.derive("redisson_lock__channel")),
                bytes(name.forcedKey()),
                bytes(name.waitersKey())),
            List.of(PUBLISH)),
        "");
  }

  static Section fair(Jedis jedis, String text) {
    LockName name = new LockName(text);
    return new ScriptedSection(
        fairCall(jedis, text),
        new Call(
            jedis,
            "fair/release",
            List.of(
                bytes(text),
                bytes(name.derive("redisson_lock__channel")),
                bytes(name.forcedKey()),
                bytes(name.derive("redisson_lock_queue")),
                bytes(name.derive("redisson_lock_timeout")),
                bytes(name.waitersKey())),
            List.of(PUBLISH, NOBODY_SERVED)),
        "");
  }

  /** The script by which somebody acquires a fair lock, or joins its queue. */
  static Call fairCall(Jedis jedis, String text) {
    LockName name = new LockName(text);
    return new Call(
        jedis,
        "fair/acquire",
        List.of(
            bytes(text),
            bytes(name.tokenKey()),
            bytes(name.derive("redisson_lock_queue")),
            bytes(name.derive("redisson_lock_timeout"))),
        List.of(LEASE, TOKEN_IDLE, NO_RUN, WAITS));
  }

  static Section read(Jedis jedis, String text) {
    return readWrite(jedis, text, readCall(jedis, text, LEASE), "");
  }

  /** The script by which a reader enters. */
  static Call readCall(Jedis jedis, String text, byte[] lease) {
    return entry(
        jedis,
        text,
        "rw/read",
        List.of(lease, PUBLISH, NO_WRITER, WAITS, TOKEN_IDLE, NO_TOKEN, NOTHING_RESERVED));
  }

  static Section write(Jedis jedis, String text) {
    return readWrite(
        jedis,
        text,
        entry(jedis, text, "rw/write", List.of(LEASE, PUBLISH, WAITS, TOKEN_IDLE, ONE_TOKEN)),
        ":write");
  }

  private static Call entry(Jedis jedis, String text, String script, List<byte[]> arguments) {
    return new Call(
        jedis, script, with(readWriteKeys(text), new LockName(text).tokenKey()), arguments);
  }

  private static Section readWrite(Jedis jedis, String text, Call acquire, String suffix) {
    List<byte[]> keys = readWriteKeys(text);
    String forced = new LockName(text).derive("mortise_forced_holds");
    return new ScriptedSection(
        acquire, new Call(jedis, "rw/release", with(keys, forced), List.of(PUBLISH)), suffix);
  }

  private static List<byte[]> readWriteKeys(String text) {
    LockName name = new LockName(text);
    List<byte[]> keys = new ArrayList<>();
    keys.add(bytes(text));
    keys.add(bytes(name.tagged()));
    for (String prefix :
        List.of(
            "redisson_rwlock",
            "mortise_write_intent",
            "mortise_read_waiters",
            "mortise_read_turn",
            "redisson_lock_queue",
            "redisson_lock_timeout",
            "mortise_readers")) {
      keys.add(bytes(name.derive(prefix)));
    }
    return keys;
  }

  private static List<byte[]> with(List<byte[]> keys, String last) {
    List<byte[]> all = new ArrayList<>(keys);
    all.add(bytes(last));
    return all;
  }

  @Override
  public void enter() {
    count++;
    acquire.by(holder());
  }

  @Override
  public void leave() {
    release.by(holder());
  }

  private byte[] holder() {
    return bytes(prefix + count + suffix);
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  static byte[] bytes(long number) {
    return bytes(Long.toString(number));
  }

  /** One script with its keys and arguments, of which only the first, the holder, changes. */
  static final class Call {
    private final Jedis jedis;
    private final Script script;
    private final byte[] sha1;
    private final byte[][] parameters;

    Call(Jedis jedis, String path, List<byte[]> keys, List<byte[]> arguments) {
      this.jedis = jedis;
      script = Script.load(path);
      if (keys.size() != script.keys() || arguments.size() + 1 != script.arguments()) {
        throw new IllegalStateException(
            "the bare commands do not fit script '%s' any more".formatted(script));
      }
      sha1 = jedis.scriptLoad(script.text());
      List<byte[]> all = new ArrayList<>(keys);
      all.add(new byte[0]);
      all.addAll(arguments);
      parameters = all.toArray(byte[][]::new);
    }

    void by(byte[] holder) {
      parameters[script.keys()] = holder;
      requireGranted(jedis.evalsha(sha1, script.keys(), parameters));
    }

    /** Sends it with others; the answer is to be checked. */
    Response<Object> in(Pipeline pipeline, byte[] holder) {
      byte[][] its = parameters.clone();
      its[script.keys()] = holder;
      return pipeline.evalsha(sha1, script.keys(), its);
    }

    void requireGranted(Object reply) {
      require(1, reply);
    }

    void requireQueued(Object reply) {
      require(2, reply);
    }

    private void require(long expected, Object reply) {
      List<?> answer = (List<?>) reply;
      if (!Long.valueOf(expected).equals(answer.get(0))) {
        throw new IllegalStateException("script '%s' answers %s".formatted(script, answer));
      }
    }
  }
}
