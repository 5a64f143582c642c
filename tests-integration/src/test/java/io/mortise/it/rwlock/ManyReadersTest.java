package io.mortise.it.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Sets;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.rwlock.ReadWriteProtocols;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.params.SetParams;

/** Scripts of a read-write lock that more readers hold than one script looks at. */
@Timeout(120)
@Tag("redis-version")
class ManyReadersTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  /** Somewhat more than one script looks at, and many times that. */
  private static final int FEW = 150;

  private static final int MANY = 3_000;

  /** More than any of the scripts needs that look at no reader but a few. */
  private static final int MOST_COMMANDS = 60;

  /** More than any needs that looks at a hundred readers. */
  private static final int MOST_COMMANDS_OF_A_STEP = 420;

  private static final long LEASE = 60_000;
  private static final String WRITER = "fffffffe-0000-8000-8000-000000000000:1";
  private static final Pattern STATISTICS = Pattern.compile("cmdstat_(\\w+):calls=(\\d+)");

  /** Redisson's readers, with their lease keys; or what is left of readers that have died. */
  private static final String FILL =
      "local mode = redis.call('HGET', KEYS[1], 'mode') or 'read' redis.call('HSET', KEYS[1],"
          + " 'mode', mode) for i = 1, ARGV[1] do local id ="
          + " string.format('%08x-0000-4000-8000-000000000000:1', i) redis.call('HSET', KEYS[1],"
          + " id, 1) if ARGV[2] ~= '0' then redis.call('SET', KEYS[2] .. ':' .. id .."
          + " ':rwlock_timeout:1', 1, 'PX', ARGV[2]) end end if redis.call('PTTL', KEYS[1]) <"
          + " tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end";

  private final LockName name = new LockName(Names.fresh());
  private final LockProtocol reads = ReadWriteProtocols.reader(name.value(), false);
  private final LockProtocol writes = ReadWriteProtocols.writer(name.value(), false);
  private final LockProtocol fairWrites = ReadWriteProtocols.writer(name.value(), true);

  private static String reader(int index) {
    return "%08x-0000-8000-8000-000000000000:1".formatted(index);
  }

  private static Object run(ScriptCall call) {
    List<String> keys = call.keys().stream().map(key -> new String(key, UTF_8)).toList();
    Object[] arguments =
        call.arguments().stream().map(argument -> new String(argument, UTF_8)).toArray();
    return ScriptServer.run(redis.jedis(), call.script().path(), keys, arguments);
  }

  private static long first(Object answer) {
    return (Long) (answer instanceof List<?> list ? list.get(0) : answer);
  }

  private static List<Long> numbers(Object answer) {
    return ((List<?>) answer).stream().map(each -> (Long) each).toList();
  }

  private void enter(int from, int to) {
    for (int i = from; i < to; i++) {
      assertEquals(1, first(run(reads.acquire(reader(i), LEASE, false, 0))));
    }
  }

  private void die(int from, int to) {
    for (int i = from; i < to; i++) {
      redis.jedis().del(leaseKey(reader(i)));
    }
  }

  private String leaseKey(String reader) {
    return name.tagged() + ":" + reader + ":rwlock_timeout:1";
  }

  private void redissonsReaders(int count, long lease) {
    redis
        .jedis()
        .eval(
            FILL,
            List.of(name.value(), name.tagged()),
            List.of(Integer.toString(count), Long.toString(lease), Long.toString(LEASE)));
  }

  /** Returns how many commands the script has run. */
  private static long commandsOf(ScriptCall call) {
    redis.jedis().configResetStat();
    var unused = run(call);
    Matcher statistics = STATISTICS.matcher(redis.jedis().info("commandstats"));
    long sum = 0;
    while (statistics.find()) {
      String command = statistics.group(1);
      assertTrue(
          !Set.of("hgetall", "hkeys", "hvals", "hscan", "smembers").contains(command), command);
      if (!Set.of("eval", "info", "config").contains(command)) {
        sum += Long.parseLong(statistics.group(2));
      }
    }
    return sum;
  }

  private List<Long> commandsOfEachScript(int readers) {
    enter(0, readers);
    ScriptCall longest = reads.acquire(reader(readers + 1), 2 * LEASE, false, 0);
    ScriptCall another = reads.acquire(reader(readers + 2), 3 * LEASE, false, 0);
    ScriptCall third = reads.acquire(reader(readers + 3), 4 * LEASE, false, 0);
    return List.of(
        commandsOf(writes.acquire(WRITER, LEASE, false, 0)),
        commandsOf(longest),
        commandsOf(reads.release(reader(readers + 1))),
        commandsOf(another),
        commandsOf(reads.keep(reader(readers + 2), LEASE / 2)),
        commandsOf(third),
        commandsOf(reads.leave(reader(readers + 3))),
        commandsOf(reads.release(reader(1))),
        commandsOf(reads.renew(reader(2), LEASE)),
        commandsOf(writes.acquire(WRITER, LEASE, true, 0)),
        commandsOf(((QueueingProtocol) writes).heartbeat(WRITER).item()),
        commandsOf(fairWrites.acquire(WRITER, LEASE, true, 0)),
        commandsOf(((QueueingProtocol) fairWrites).heartbeat(WRITER).item()));
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void aScriptLooksAtFewReadersHoweverManyThereAre(int readers) {
    for (long commands : commandsOfEachScript(readers)) {
      assertTrue(commands < MOST_COMMANDS, () -> commands + " commands");
    }
    assertTrue(commandsOf(reads.queryLease()) < MOST_COMMANDS_OF_A_STEP);
    assertTrue(first(run(reads.queryLease())) > LEASE / 2);
  }

  @Test
  void theSecondReaderNotesTheFirst() {
    enter(0, 1);
    assertEquals(Set.of(), noted(), "a reader alone needs no set");
    enter(1, 2);
    assertEquals(Set.of(reader(0), reader(1)), noted());
    assertTrue(redis.jedis().pttl(name.derive("mortise_readers")) > LEASE / 2);
  }

  /** Otherwise they would stay as long as there is a reader, and no writer comes. */
  @Test
  void aReaderThatEntersRemovesDeadOnes() {
    enter(0, FEW);
    die(0, FEW - 1);
    String readers = name.derive("mortise_readers");
    for (int i = 0; i < FEW - 1; i++) {
      redis.jedis().zadd(readers, 1, reader(i)); // their leases ended long ago
    }
    enter(FEW, FEW + 2);
    Set<String> left = Set.of(reader(FEW - 1), reader(FEW), reader(FEW + 1));
    assertEquals(left, noted());
    assertEquals(Sets.union(left, Set.of("mode")), redis.jedis().hkeys(name.value()));
  }

  private Set<String> noted() {
    return new TreeSet<>(redis.jedis().zrange(name.derive("mortise_readers"), 0, -1));
  }

  @Test
  void aWriterEntersInStepsWhereManyReadersHaveDied() {
    enter(0, MANY);
    die(0, MANY);
    assertEntersInSteps();
  }

  @Test
  void aWriterEntersInStepsWhereManyReadersOfRedissonHaveDied() {
    redissonsReaders(MANY, 0);
    assertEntersInSteps();
  }

  private void assertEntersInSteps() {
    int attempts = 1;
    while (true) {
      List<Long> answer = numbers(run(writes.acquire(WRITER, LEASE, false, 0)));
      if (answer.get(0) == 1) {
        break;
      }
      assertEquals(List.of(0L, 1L), answer, "it asks again at once");
      attempts++;
    }
    assertTrue(attempts > 5 && attempts < MANY / 50, attempts + " attempts");
  }

  @Test
  void oneReaderAmongManyDeadOnesKeepsAWriterOut() {
    enter(0, FEW);
    redissonsReaders(FEW, 0);
    die(0, FEW - 1);
    for (int i = 0; i < 10; i++) {
      assertEquals(0, first(run(writes.acquire(WRITER, LEASE, false, 0))));
    }
    assertTrue(redis.jedis().hexists(name.value(), reader(FEW - 1)));
    assertEquals(1, first(run(reads.release(reader(FEW - 1)))));
    assertEquals(1, first(run(writes.acquire(WRITER, LEASE, false, 0))));
  }

  @Test
  void oneReaderOfRedissonAmongManyDeadOnesKeepsAWriterOut() {
    enter(0, FEW);
    redissonsReaders(FEW, 0);
    die(0, FEW);
    String theirs = "%08x-0000-4000-8000-000000000000:1".formatted(FEW / 2);
    redis.jedis().set(leaseKey(theirs), "1", SetParams.setParams().px(LEASE));
    for (int i = 0; i < 50; i++) {
      assertEquals(0, first(run(writes.acquire(WRITER, LEASE, false, 0))));
    }
    assertEquals(Set.of("mode", theirs), redis.jedis().hkeys(name.value()), "the dead are removed");
  }

  @Test
  void manyReadersOfRedissonAreLookedAtInSteps() {
    redissonsReaders(MANY, LEASE);
    assertTrue(commandsOf(writes.acquire(WRITER, LEASE, false, 0)) < MOST_COMMANDS_OF_A_STEP);
    enter(0, 3);
    assertTrue(commandsOf(writes.acquire(WRITER, LEASE, false, 0)) < MOST_COMMANDS_OF_A_STEP);
    List<Long> answer = numbers(run(writes.acquire(WRITER, LEASE, true, 0)));
    assertEquals(3, answer.get(0), "it listens to the channel of the lock");
    assertTrue(answer.get(1) > LEASE / 2, answer::toString);
    assertEquals(MANY + 4, redis.jedis().hlen(name.value()));
  }

  /** The set does not know how long Redisson's readers hold. */
  @Test
  void theLockIsNotShortenedBesideManyReadersOfRedisson() {
    redissonsReaders(FEW, LEASE);
    run(reads.acquire(reader(1), LEASE / 4, false, 0));
    run(reads.acquire(reader(2), 2 * LEASE, false, 0));
    run(reads.release(reader(2)));
    assertTrue(redis.jedis().pttl(name.value()) > LEASE / 2);
  }

  @Test
  void aLockIsShortenedWhenTheLongestOfManyReadersLeaves() {
    enter(0, FEW);
    run(reads.acquire(reader(FEW), 2 * LEASE, false, 0));
    assertTrue(redis.jedis().pttl(name.value()) > LEASE);
    run(reads.release(reader(FEW)));
    long left = redis.jedis().pttl(name.value());
    assertTrue(left <= LEASE && left > LEASE / 2, () -> left + " ms");
  }

  /** A writer that waits removes the dead ones, in as many attempts as it needs. */
  @Test
  void waitersAreNotifiedWhenTheLastReaderLeavesManyDeadOnes() {
    enter(0, MANY);
    die(0, MANY - 1);
    redis.published();
    run(reads.release(reader(MANY - 1)));
    assertEquals(List.of(name.derive("redisson_rwlock") + " 0"), redis.published());
    assertEntersInSteps();
  }

  @Test
  void aForcedReleaseLeavesNothing() {
    enter(0, FEW);
    redissonsReaders(FEW, LEASE);
    assertEquals(1, first(run(reads.forceRelease())));
    List<String> left = new ArrayList<>(redis.jedis().keys("*" + name.value() + "*"));
    left.removeIf(key -> key.startsWith("mortise_forced") || key.equals(name.tokenKey()));
    assertEquals(List.of(), left);
    assertNotEquals(0, redis.jedis().scard(name.derive("mortise_forced_holds")));
  }
}
