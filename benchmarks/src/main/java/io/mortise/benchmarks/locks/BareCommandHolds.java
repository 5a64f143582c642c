package io.mortise.benchmarks.locks;

import static io.mortise.benchmarks.locks.ScriptedSection.bytes;

import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Renewal by bare commands: one thread runs Mortise's script of renewal on all holds at each third
 * of a lease, in batches.
 */
final class BareCommandHolds implements Holds {
  private static final Script RENEW = Script.load("lock/renew");
  private static final int BATCH = 500;
  private static final String HOLDER = "bare:1";

  private final String uri;
  private final Jedis jedis;
  private final Duration lease;
  private final byte[] renewSha1;
  private final ScheduledExecutorService renewal = Executors.newSingleThreadScheduledExecutor();
  private final List<String> names = new ArrayList<>();
  private final AtomicInteger lost = new AtomicInteger();

  BareCommandHolds(String uri, Duration lease) {
    this.uri = uri;
    this.jedis = new Jedis(URI.create(uri));
    this.lease = lease;
    renewSha1 = jedis.scriptLoad(RENEW.text());
  }

  @Override
  public void take(String prefix, int count) {
    for (int from = 0; from < count; from += BATCH) {
      try (Pipeline pipeline = jedis.pipelined()) {
        for (int i = from; i < Math.min(from + BATCH, count); i++) {
          names.add(prefix + i);
          pipeline.hset(prefix + i, HOLDER, "1");
          pipeline.pexpire(prefix + i, lease.toMillis());
        }
      }
    }
    long third = lease.toMillis() / 3;
    var unused = renewal.scheduleAtFixedRate(this::renewAll, third, third, TimeUnit.MILLISECONDS);
  }

  private void renewAll() {
    for (int from = 0; from < names.size(); from += BATCH) {
      List<byte[]> keys = new ArrayList<>();
      List<byte[]> arguments = new ArrayList<>();
      for (String name : names.subList(from, Math.min(from + BATCH, names.size()))) {
        keys.add(bytes(name));
        keys.add(bytes(new LockName(name).forcedKey()));
        arguments.add(bytes(HOLDER));
        arguments.add(bytes(lease.toMillis()));
      }
      List<?> answers = (List<?>) jedis.evalsha(renewSha1, keys, arguments);
      lost.addAndGet((int) answers.stream().filter(each -> !Long.valueOf(1).equals(each)).count());
    }
  }

  /** Over a connection of its own: the other one renews. */
  @Override
  public Section section(MeasuredLock kind, String name) {
    Jedis beside = new Jedis(URI.create(uri));
    return kind == MeasuredLock.READ
        ? ScriptedSection.read(beside, name)
        : ScriptedSection.plain(beside, name);
  }

  @Override
  public int lost() {
    return lost.get();
  }
}
