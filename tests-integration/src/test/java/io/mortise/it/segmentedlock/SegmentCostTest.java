package io.mortise.it.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.scripts.ScriptCall;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The work of an attempt for any of two segments is the same with three waiters and with a hundred
 * thousand. It is counted and not timed: the server reports each command inside a script, and for
 * each command on the queue the test knows how many places Redis visits for it.
 */
@Timeout(60)
class SegmentCostTest {
  private static final int FEW = 3;
  private static final int MANY = 100_000;
  private static final int AT_ONCE = 5_000;
  private static final long LEASE = 600_000;

  /** Longer than the places that the test puts into the queue, as that of one that asks now. */
  private static final String VALIDITY = "600000";

  /** The position of that validity among the arguments of the script. */
  private static final int VALIDITY_ARGUMENT = 6;

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  /** The keys of one segmented lock, and how many wait for any of its segments. */
  private static final class Group {
    private final QueueingProtocol any = SegmentProtocols.any(Names.fresh(), bound -> 0);
    private final List<String> keys =
        any.heartbeat(id("A")).item().keys().stream().map(key -> new String(key, UTF_8)).toList();
    private final Map<String, Long> work = new TreeMap<>();

    /** Two hold, and these wait: {@code w1} and so on. */
    private Group(int waiters) {
      for (String holder : List.of("A", "B")) {
        assertEquals(1L, attempt(holder, true).get(0));
      }
      long until = System.currentTimeMillis() + LEASE / 2;
      for (int from = 1; from <= waiters; from += AT_ONCE) {
        List<String> some =
            IntStream.range(from, Math.min(from + AT_ONCE, waiters + 1))
                .mapToObj(i -> id("w" + i))
                .toList();
        redis.jedis().rpush(queue(), some.toArray(String[]::new));
        Map<String, Double> deadlines = new TreeMap<>();
        some.forEach(waiter -> deadlines.put(waiter, (double) until));
        redis.jedis().zadd(keys.get(1), deadlines);
      }
    }

    private String queue() {
      return keys.get(0);
    }

    private List<?> attempt(String who, boolean waits) {
      ScriptCall call = any.acquire(id(who), LEASE, waits, 0);
      List<byte[]> arguments = new ArrayList<>(call.arguments());
      if (waits) {
        arguments.set(VALIDITY_ARGUMENT, VALIDITY.getBytes(UTF_8));
      }
      return (List<?>) redis.run(new ScriptCall(call.script(), call.keys(), arguments));
    }

    /** Counts the work of an attempt, and says how it ends. */
    private void count(String what, long outcome, String who, boolean waits) {
      List<String> places = redis.jedis().lrange(queue(), 0, -1);
      try (Monitor monitor = new Monitor(redis.server())) {
        assertEquals(outcome, attempt(who, waits).get(0), what);
        long visited =
            monitor.commandsInScripts().stream()
                .filter(words -> words.size() > 1 && words.get(1).equals(queue()))
                .mapToLong(words -> visited(words, places))
                .sum();
        work.put(what, visited);
      }
    }
  }

  private static String id(String who) {
    return "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:" + who;
  }

  /** How many places of the queue Redis visits for a command, by its documentation. */
  private static long visited(List<String> words, List<String> places) {
    int size = places.size();
    return switch (words.get(0)) {
      case "LLEN", "RPUSH", "LPOP", "PEXPIRE" -> 1;
      case "LINDEX" -> {
        long index = Long.parseLong(words.get(2));
        yield Math.min(index < 0 ? -index : index + 1, size);
      }
      case "LRANGE" -> {
        long last = Long.parseLong(words.get(3));
        yield Math.min(last < 0 ? size : last + 1, size);
      }
      case "LPOS" -> Math.min(words.size() == 5 ? Long.parseLong(words.get(4)) : size, size);
      case "LREM" -> {
        int place = places.indexOf(words.get(3));
        yield words.get(2).equals("1") && place >= 0 ? place + 1 : size;
      }
      default -> throw new AssertionError("the cost of " + words + " is not known");
    };
  }

  private static Map<String, Long> work(int waiters) {
    Group group = new Group(waiters);
    group.count("one that does not wait", 0, "new", false);
    group.count("one that joins", 2, "new", true);
    group.count("one that asks again", 2, "new", true);
    redis.run(group.any.release(id("A")));
    group.count("the last one, with a free segment", 2, "new", true);
    redis.run(group.any.release(id("B")));
    group.count("the second one, with two free segments", 1, "w2", true);
    group.count("the head", 1, "w1", true);
    return group.work;
  }

  @Test
  void anAttemptForAnySegmentCostsTheSameWithAHundredThousandWaiters() {
    Map<String, Long> few = work(FEW);
    Map<String, Long> many = work(MANY);
    System.out.printf("places visited with %d waiters: %s%n", FEW, few);
    assertEquals(few, many);
  }
}
