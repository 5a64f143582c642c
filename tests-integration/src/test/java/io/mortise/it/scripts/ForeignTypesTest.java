package io.mortise.it.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.scripts.Script;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.SetParams;

/**
 * Every script, with a key of another type in the place of each of its keys, in every state: if it
 * fails, or refuses one of its batch, all keys are unchanged; a key of another type is unchanged
 * always.
 */
@Timeout(120)
@Tag("redis-version")
class ForeignTypesTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private static final String NAME = "foreign";
  private static final String ME = "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:1";
  private static final String OTHER = "11111111-0d5c-8e7f-9a8b-c0d1e2f3a4b5:2";
  private static final String DEAD = "22222222-0d5c-8e7f-9a8b-c0d1e2f3a4b5:3";

  private static final long HELD = 30_000;
  private static final long TOKEN_RETENTION = 600_000;

  /** The longest time of a test; a script changes a TTL by more. */
  private static final long SLACK = 8_000;

  /**
   * Each script, its keys by what they are, and its arguments; {@code -} is an empty one. Behind
   * the arguments are the keys that the script derives.
   */
  private static final String CALLS =
      """
      lock/acquire       | lock token plainWaiters              | me 60000 60000 1 0
      lock/acquire       | lock token plainWaiters              | me 60000 60000 1 1
      lock/acquire_all   | lock token                           | me 60000 60000
      lock/release       | lock channel forced plainWaiters     | me PUBLISH
      lock/notify        | lock channel plainWaiters            | PUBLISH
      lock/keep          | lock channel forced plainWaiters     | me PUBLISH 20000
      lock/renew         | lock forced                          | me 60000
      lock/raise         | lock token                           | me 9000000000000000 60000
      lock/force         | lock channel forced plainWaiters     | PUBLISH 60000
      lock/inspect       | lock                                 |
      lock/describe      | lock                                 | {foreign} 1000
      fair/acquire       | lock token queue deadlines           | me 60000 60000 8 20000
      fair/acquire       | lock token queue deadlines           | me 60000 60000 0 0
      fair/release       | lock channel forced queue deadlines plainWaiters | me PUBLISH -
      fair/release       | lock channel forced queue deadlines plainWaiters | me PUBLISH served
      fair/keep          | lock channel forced queue deadlines plainWaiters | me PUBLISH 20000 -
      fair/keep          | lock channel forced queue deadlines plainWaiters | me PUBLISH 20000 served
      fair/leave         | lock channel queue deadlines plainWaiters | me PUBLISH -
      fair/leave         | lock channel queue deadlines plainWaiters | me PUBLISH served
      fair/force         | lock channel forced queue deadlines plainWaiters | PUBLISH 60000
      fair/heartbeat      | lock channel queue deadlines         | me 20000 PUBLISH
      fair/queue         | queue deadlines                      | me
      rw/read            | rw token                             | me 60000 PUBLISH - 20000 60000 0 -1 | writeWaiters
      rw/read            | rw token                             | me 60000 PUBLISH me! 20000 60000 6 7 | writeWaiters
      rw/fair_read       | rw token                             | me 60000 PUBLISH - 20000 60000 0 -1 | writeWaiters
      rw/fair_read       | rw token                             | me 60000 PUBLISH me! 20000 60000 6 7 | writeWaiters
      rw/write           | rw token                             | me! 60000 PUBLISH 20000 60000 1 | writeWaiters
      rw/fair_write      | rw token                             | me! 60000 PUBLISH 20000 60000 1 | writeWaiters
      rw/release         | rw forcedHolds                       | me PUBLISH | writeWaiters
      rw/release         | rw forcedHolds                       | me! PUBLISH | writeWaiters
      rw/keep            | rw forcedHolds                       | me PUBLISH 20000 | writeWaiters
      rw/keep            | rw forcedHolds                       | me! PUBLISH 20000 | writeWaiters
      rw/leave           | rw                                   | me PUBLISH | writeWaiters
      rw/leave           | rw                                   | me! PUBLISH | writeWaiters
      rw/notify          | rw                                   | PUBLISH | writeWaiters
      rw/renew           | lock prefix forcedHolds readers      | me 60000
      rw/renew           | lock prefix forcedHolds readers      | me! 60000
      rw/force           | rw forcedHolds                       | read PUBLISH 60000 | writeWaiters
      rw/force           | rw forcedHolds                       | write PUBLISH 60000 | writeWaiters
      rw/inspect         | lock prefix readers                  | read
      rw/reader_heartbeat | lock intent waiters turn             | me 20000
      rw/writer_heartbeat | rw                                   | me! 20000 PUBLISH | writeWaiters
      rw/fair_heartbeat   | rw                                   | me 20000 PUBLISH | writeWaiters
      rw/fair_heartbeat   | rw                                   | me! 20000 PUBLISH | writeWaiters
      segment/acquire_any | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 0 me 60000 60000 20000 PUBLISH | segment segmentToken
      segment/acquire_any | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 0 me 60000 60000 0 PUBLISH | segment segmentToken
      segment/release    | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 -1 me 0 c PUBLISH | segment segmentForced segmentWaiters
      segment/release    | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 0 me 20000 c PUBLISH | segment segmentForced segmentWaiters
      segment/leave      | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 me c PUBLISH | segment segmentWaiters
      segment/heartbeat  | segmentQueue segmentDeadlines exhausted | {foreign} 1 me 20000 |
      segment/force      | segment channel segmentForced segmentQueue segmentDeadlines exhausted segmentChannel | PUBLISH 60000 {foreign} 1 | segmentWaiters
      segment/mark       | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 0 exhausted PUBLISH |
      segment/mark       | segmentQueue segmentDeadlines exhausted segmentChannel | {foreign} 1 -1 reset PUBLISH |
      segment/inspect    | segmentQueue segmentDeadlines exhausted | {foreign} 1 |
      segment/state      | segmentQueue segmentDeadlines exhausted | |
      fence/command      | fence                                | 5 0 SET a b
      fence/script       | fence                                | 5 0
      """;

  /** The keys that most scripts of the read-write lock take. */
  private static final String READ_WRITE =
      "lock prefix channel intent waiters turn queue deadlines readers";

  /** The name and the type of each key; those without a type are only parts of names. */
  enum Part {
    LOCK(NAME, "hash"),
    TOKEN("redisson_lock_token:{foreign}", "string"),
    FORCED("mortise_forced:{foreign}", "string"),
    CHANNEL("redisson_lock__channel:{foreign}", ""),
    PLAINWAITERS("mortise_waiters:{foreign}", "zset"),
    PREFIX("{foreign}", ""),
    INTENT("mortise_write_intent:{foreign}", "string"),
    WAITERS("mortise_read_waiters:{foreign}", "zset"),
    WRITEWAITERS("mortise_write_waiters:{foreign}", "zset"),
    TURN("mortise_read_turn:{foreign}", "zset"),
    QUEUE("redisson_lock_queue:{foreign}", "list"),
    DEADLINES("redisson_lock_timeout:{foreign}", "zset"),
    READERS("mortise_readers:{foreign}", "zset"),
    FORCEDHOLDS("mortise_forced_holds:{foreign}", "set"),
    SEGMENT("{foreign}:0", "hash"),
    SEGMENTTOKEN("redisson_lock_token:{foreign}:0", "string"),
    SEGMENTFORCED("mortise_forced:{foreign}:0", "string"),
    SEGMENTWAITERS("mortise_waiters:{foreign}:0", "zset"),
    SEGMENTQUEUE("mortise_segment_queue:{foreign}", "list"),
    SEGMENTDEADLINES("mortise_segment_timeout:{foreign}", "zset"),
    EXHAUSTED("mortise_exhausted:{foreign}", "set"),
    SEGMENTCHANNEL("mortise_segment_channel:{foreign}", ""),
    FENCE("mortise_fence:{foreign}", "string");

    final String key;
    final String type;

    Part(String key, String type) {
      this.key = key;
      this.type = type;
    }
  }

  /** The holder. */
  enum Hold {
    NOBODY,
    ME,
    OTHER,
    I_READ,
    OTHERS_READ,
    I_WRITE,
    ANOTHER_WRITES,
    AN_EXPIRED_WRITER_BESIDE_READERS
  }

  /** A line of {@link #CALLS}. */
  record Call(String path, List<Part> keys, List<String> arguments, List<Part> derived) {
    static Call of(String line) {
      String[] parts = line.split("\\|", -1);
      List<Part> keys = parts(parts[1].replace("rw", READ_WRITE));
      List<String> arguments =
          words(parts[2])
              .map(word -> word.equals("-") ? "" : word.replace("me", ME).replace("!", ":write"))
              .toList();
      List<Part> derived = parts.length > 3 ? parts(parts[3]) : List.of();
      return new Call(parts[0].trim(), keys, arguments, derived);
    }

    private static List<Part> parts(String words) {
      return words(words).map(word -> Part.valueOf(word.toUpperCase(Locale.ROOT))).toList();
    }

    private List<Part> touched() {
      return Stream.concat(keys.stream(), derived.stream()).toList();
    }

    private static Stream<String> words(String part) {
      return Arrays.stream(part.trim().split(" +", -1)).filter(word -> !word.isEmpty());
    }

    @Override
    public String toString() {
      return path + " " + arguments.toString().replace(ME, "me");
    }
  }

  static Stream<Call> calls() {
    return CALLS.lines().map(Call::of);
  }

  private static String writer(String holder) {
    return holder + ":write";
  }

  @Test
  void theTableHasEveryScript() throws Exception {
    Path root = Path.of("..", "scripts", "src", "main", "resources", "io", "mortise", "scripts");
    TreeSet<String> scripts = new TreeSet<>();
    try (Stream<Path> files = Files.walk(root)) {
      files
          .map(file -> root.relativize(file).toString().replace('\\', '/'))
          .filter(file -> file.endsWith(".lua") && !file.startsWith("common/"))
          .filter(file -> !file.startsWith("client/")) // on keys that only one client has
          .forEach(file -> scripts.add(file.replace(".lua", "")));
    }
    TreeSet<String> called = new TreeSet<>(calls().map(Call::path).toList());
    assertEquals(scripts, called);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void aScriptThatFailsHasChangedNothing(Call call) {
    Loaded scripts = Loaded.of(call);
    int failed = 0;
    for (Part part : call.touched()) {
      double now = Double.parseDouble(redis.jedis().time().get(0)) * 1_000;
      for (String type : List.of("string", "hash", "list")) {
        if (type.equals(part.type)) {
          continue;
        }
        for (Hold hold : Hold.values()) {
          for (boolean othersAhead : List.of(true, false)) {
            String where =
                type + " at " + part + ", " + hold + (othersAhead ? ", others ahead" : "");
            State state = new State(now, part, type, hold, othersAhead);
            failed += scripts.run(call, state, where) ? 1 : 0;
          }
        }
      }
    }
    assertTrue(failed > 0, "it fails with no key of another type");
  }

  /**
   * The state before the script.
   *
   * @param part a key, in whose place there is one of another type
   * @param type that type
   */
  private record State(double now, Part part, String type, Hold hold, boolean othersAhead) {
    private void put(Pipeline pipeline) {
      pipeline.sendCommand(Protocol.Command.FLUSHALL, new String[0]);
      prepare(pipeline, now, hold, othersAhead);
      pipeline.del(part.key);
      putForeign(pipeline, part.key, type);
    }
  }

  /** The script of a call and that of the snapshots, which the server knows by these hashes. */
  private record Loaded(String script, String snapshot) {
    private static Loaded of(Call call) {
      return new Loaded(
          redis.jedis().scriptLoad(text(call.path)), redis.jedis().scriptLoad(SNAPSHOT));
    }

    /** Runs the call in that state, in one round trip; returns whether it failed. */
    private boolean run(Call call, State state, String where) {
      Response<Object> first;
      Response<Object> answer;
      Response<Object> last;
      try (Pipeline pipeline = redis.jedis().pipelined()) { // many thousand states
        state.put(pipeline);
        first = pipeline.evalsha(snapshot);
        answer = pipeline.evalsha(script, keys(call), call.arguments);
        last = pipeline.evalsha(snapshot);
      }
      boolean refused;
      try {
        refused = isRefusal(call, answer.get());
      } catch (JedisNoScriptException e) {
        throw e; // it has not run
      } catch (JedisDataException e) {
        refused = true;
      }
      Map<String, Kept> before = kept(first.get());
      Map<String, Kept> after = kept(last.get());
      Set<String> changed = new TreeSet<>(before.keySet());
      changed.addAll(after.keySet());
      changed.removeIf(key -> Kept.same(before.get(key), after.get(key)));
      assertFalse(
          changed.contains(state.part.key), () -> where + ": the key of another type was changed");
      if (refused) {
        assertEquals(Set.of(), changed, () -> where + ": it wrote before it failed");
      }
      return refused;
    }
  }

  /** In a batch, 0 means nothing for this item, and -1 that it was refused. */
  private static boolean isRefusal(Call call, Object answer) {
    boolean batch = Script.load(call.path).batch() && !call.path.equals("lock/acquire_all");
    return batch && (Long) ((List<?>) answer).get(0) <= 0;
  }

  private static String text(String path) {
    return new String(Script.load(path).text(), UTF_8);
  }

  private static List<String> keys(Call call) {
    List<String> keys = new ArrayList<>(call.keys.stream().map(part -> part.key).toList());
    if (call.path.equals("fence/command")) {
      keys.add(call.arguments.get(3));
    }
    return keys;
  }

  // ---- the state before

  private static void prepare(Pipeline state, double now, Hold hold, boolean othersAhead) {
    put(state, Part.TOKEN.key, "7", TOKEN_RETENTION);
    put(state, Part.FORCED.key, ME, HELD);
    put(state, Part.SEGMENTTOKEN.key, "7", TOKEN_RETENTION);
    put(state, Part.SEGMENTFORCED.key, ME, HELD);
    state.sadd(Part.EXHAUSTED.key, "1");
    state.sadd(Part.FORCEDHOLDS.key, DEAD);
    put(state, Part.INTENT.key, othersAhead ? writer(OTHER) : writer(ME), HELD);
    String[] order =
        othersAhead
            ? new String[] {DEAD, ME, writer(ME), OTHER}
            : new String[] {DEAD, writer(ME), ME, OTHER};
    for (String waiter : order) {
      double until = now + (waiter.equals(DEAD) ? -1_000 : HELD);
      state.rpush(Part.QUEUE.key, waiter);
      state.zadd(Part.DEADLINES.key, until, waiter);
      state.rpush(Part.SEGMENTQUEUE.key, waiter);
      state.zadd(Part.SEGMENTDEADLINES.key, until, waiter);
      state.zadd(Part.WAITERS.key, until, waiter);
      state.zadd(Part.PLAINWAITERS.key, until, waiter);
      state.zadd(Part.WRITEWAITERS.key, until, waiter);
      state.zadd(Part.SEGMENTWAITERS.key, until, waiter);
      if (othersAhead && waiter.equals(OTHER)) {
        state.zadd(Part.TURN.key, until, waiter);
      }
    }
    hold(state, hold);
    if (hold != Hold.NOBODY) {
      state.pexpire(NAME, HELD);
      state.copy(NAME, Part.SEGMENT.key, true);
    }
  }

  private static void put(Pipeline state, String key, String value, long millis) {
    state.set(key, value, SetParams.setParams().px(millis));
  }

  private static void hold(Pipeline state, Hold hold) {
    switch (hold) {
      case NOBODY -> {}
      case ME -> state.hset(NAME, ME, "1");
      case OTHER -> state.hset(NAME, OTHER, "1");
      case I_READ -> reads(state, ME, DEAD, OTHER);
      case OTHERS_READ -> reads(state, DEAD, OTHER);
      case I_WRITE -> state.hset(NAME, fields("write", writer(ME)));
      case ANOTHER_WRITES -> state.hset(NAME, fields("write", writer(OTHER)));
      case AN_EXPIRED_WRITER_BESIDE_READERS -> {
        reads(state, ME, DEAD);
        state.hset(NAME, fields("write", writer(OTHER)));
      }
    }
  }

  /** The lease of DEAD has expired. */
  private static void reads(Pipeline state, String... readers) {
    for (String reader : readers) {
      state.hset(NAME, fields("read", reader));
      if (!reader.equals(DEAD)) {
        put(state, "{foreign}:" + reader + ":rwlock_timeout:1", "1", HELD / 2);
      }
    }
  }

  private static Map<String, String> fields(String mode, String hold) {
    return Map.of("mode", mode, hold, "1");
  }

  private static void putForeign(Pipeline state, String key, String type) {
    switch (type) {
      case "string" -> state.set(key, "something else");
      case "hash" -> state.hset(key, "something", "else");
      default -> state.rpush(key, "something else");
    }
  }

  // ---- the state after

  /** All keys, each with a digest of its value and its TTL. */
  private static final String SNAPSHOT =
      """
      local all = {}
      for _, key in ipairs(redis.call('KEYS', '*')) do
        all[#all + 1] = key
        all[#all + 1] = redis.sha1hex(redis.call('DUMP', key))
        all[#all + 1] = redis.call('PTTL', key)
      end
      return all
      """;

  /** A digest of the value of a key, and its TTL. */
  record Kept(String digest, long ttlMillis) {
    static boolean same(Kept one, Kept other) {
      return one != null
          && other != null
          && one.digest.equals(other.digest)
          && Math.abs(one.ttlMillis - other.ttlMillis) < SLACK;
    }
  }

  private static Map<String, Kept> kept(Object snapshot) {
    Map<String, Kept> all = new HashMap<>();
    List<?> words = (List<?>) snapshot;
    for (int i = 0; i < words.size(); i += 3) {
      all.put((String) words.get(i), new Kept((String) words.get(i + 1), (Long) words.get(i + 2)));
    }
    return all;
  }
}
