package io.mortise.it.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.fairlock.FairProtocols;
import io.mortise.rwlock.ReadWriteProtocols;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;

/** Random script calls of all lock families on a few names, and what peers do beside them. */
final class RandomCalls {
  /** All scripts of the lock families. */
  static final List<Script> SCRIPTS =
      Stream.of(
              "lock/acquire lock/acquire_all lock/release lock/notify lock/keep lock/renew"
                  + " lock/force lock/inspect",
              "fair/acquire fair/release fair/keep fair/leave fair/heartbeat fair/force fair/queue",
              "segment/acquire_any segment/release segment/leave segment/heartbeat segment/force"
                  + " segment/mark segment/inspect segment/state",
              "rw/read rw/write rw/fair_read rw/fair_write rw/release rw/keep rw/leave rw/renew"
                  + " rw/notify",
              "rw/reader_heartbeat rw/writer_heartbeat rw/fair_heartbeat rw/force rw/inspect")
          .flatMap(paths -> Stream.of(paths.split(" ", -1)))
          .map(Script::load)
          .toList();

  /** Longer than a run takes: what expires does so because the test says so. */
  private static final long LEASE_MILLIS = 600_000;

  /** Two of them are of one client. */
  private static final List<String> HOLDERS =
      List.of(holder("0", 1), holder("0", 2), holder("1", 1), holder("2", 1));

  private static final String REDISSONS_HOLDER = "33333333-0000-4000-8000-333333333333:1";

  private static final int FAMILIES = 8;
  private static final int ANY_SEGMENT = 7;

  private final Random random;
  private final List<String> names;

  /** What a sequence is about; negative: calls of all families on both names. */
  private final int family;

  /**
   * Creates a sequence.
   *
   * @param prefix of the names, which share a hash slot
   */
  RandomCalls(Random random, String prefix) {
    this.random = random;
    this.family = random.nextInt(2) == 0 ? random.nextInt(FAMILIES) : -1;
    String first = "{" + prefix + "}:a";
    this.names = family < 0 ? List.of(first, "{" + prefix + "}:b") : List.of(first);
  }

  private static String holder(String digit, int number) {
    return digit.repeat(8) + "-0000-8000-8000-" + digit.repeat(12) + ":" + number;
  }

  /** Returns the words of the next command. */
  List<String> next() {
    return random.nextInt(12) == 0 ? ofAPeer() : words(call());
  }

  private <T> T oneOf(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  /**
   * A command of Redisson, of an eviction, of the end of a lease, or of a key of another type; or a
   * question to a queue.
   */
  private List<String> ofAPeer() {
    String name = oneOf(names);
    return switch (random.nextInt(12)) {
      case 8 -> List.of("HSET", name + ":0", REDISSONS_HOLDER, "1");
      case 9 -> List.of("PEXPIRE", name + ":" + random.nextInt(SegmentProtocols.COUNT), "0");
      case 0 -> List.of("HSET", name, REDISSONS_HOLDER, "1");
      case 1 -> List.of("HSET", name, "mode", "read", REDISSONS_HOLDER, "1");
      case 2 -> List.of("RPUSH", "redisson_lock_queue:" + name, REDISSONS_HOLDER);
      case 3 -> List.of("SET", name, "another type");
      case 4 -> List.of("DEL", "redisson_lock_timeout:" + name);
      case 5 -> List.of("PEXPIRE", name, Long.toString(LEASE_MILLIS));
      case 6 -> List.of("DEL", "mortise_readers:" + name);
      case 7 -> List.of("ZADD", "mortise_readers:" + name, "1", oneOf(HOLDERS));
      case 10 -> place("redisson_lock_queue:" + name);
      default -> List.of("PEXPIRE", name, "0");
    };
  }

  /** The place of a holder among the first ones: the scripts answer the same as with all. */
  private List<String> place(String queue) {
    return List.of(
        "LPOS", queue, oneOf(HOLDERS), "MAXLEN", Integer.toString(random.nextInt(4) - 1));
  }

  private LockProtocol protocol(String name) {
    boolean fair = random.nextBoolean();
    return switch (family < 0 ? random.nextInt(ANY_SEGMENT) : family) {
      case 6 -> SegmentProtocols.segment(name, random.nextInt(SegmentProtocols.COUNT));
      case 0, 1 -> new PlainLockProtocol(new LockName(name), LockOptions.defaults());
      case 2 -> FairProtocols.ofHold(name, oneOf(HOLDERS), random.nextInt(2));
      case 3 -> ReadWriteProtocols.reader(name, fair);
      case 4 -> ReadWriteProtocols.readerBelow(oneOf(HOLDERS), name, fair);
      default -> ReadWriteProtocols.writer(name, fair);
    };
  }

  private ScriptCall callForAnySegment(String name, String holder, long lease) {
    QueueingProtocol any = SegmentProtocols.any(name, random::nextInt);
    return switch (random.nextInt(11)) {
      case 0, 1, 2, 3 -> any.acquire(holder, lease, random.nextBoolean(), 0);
      case 4 -> any.release(holder);
      case 5 -> any.keep(holder, lease / 2);
      case 6 -> any.leave(holder);
      case 7 -> any.heartbeat(holder).item();
      case 8 ->
          SegmentProtocols.mark(name, random.nextInt(SegmentProtocols.COUNT), random.nextBoolean());
      case 9 -> any.queryLease();
      default -> SegmentProtocols.state(name);
    };
  }

  private List<ScriptCall> call() {
    String name = oneOf(names);
    String holder = oneOf(HOLDERS);
    long lease = LEASE_MILLIS * (1 + random.nextInt(2));
    if (family < 0 ? random.nextInt(6) == 0 : family == ANY_SEGMENT) {
      return List.of(callForAnySegment(name, holder, lease));
    }
    LockProtocol protocol = protocol(name);
    return switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> List.of(acquire(protocol, holder, lease));
      case 4 -> List.of(protocol.release(holder));
      case 5 ->
          List.of(
              random.nextBoolean() ? protocol.release(holder) : protocol.keep(holder, lease / 2));
      case 6 ->
          List.of(
              protocol instanceof NotifyingProtocol notifying && random.nextBoolean()
                  ? notifying.notifyNext()
                  : protocol.leave(holder));
      case 7 -> batch(protocol, p -> Optional.of(p.renew(oneOf(HOLDERS), lease)));
      case 8 ->
          batch(
              protocol,
              p ->
                  p instanceof QueueingProtocol queueing
                      ? Optional.of(queueing.heartbeat(holder).item())
                      : Optional.empty());
      default ->
          random.nextInt(3) == 0
              ? List.of(protocol.forceRelease())
              : random.nextBoolean()
                  ? List.of(protocol.queryLease())
                  : batch(
                      protocol,
                      p ->
                          p instanceof GroupProtocol group
                              ? Optional.of(group.acquireTogether(holder, lease))
                              : Optional.empty());
    };
  }

  private ScriptCall acquire(LockProtocol protocol, String holder, long lease) {
    return protocol.acquire(holder, lease, random.nextBoolean(), random.nextInt(3));
  }

  /** Returns one or two items of one script; a query if the family has no such script. */
  private List<ScriptCall> batch(
      LockProtocol protocol, Function<LockProtocol, Optional<ScriptCall>> item) {
    List<ScriptCall> items = new ArrayList<>();
    item.apply(protocol).ifPresent(items::add);
    if (!items.isEmpty() && random.nextBoolean()) {
      item.apply(protocol).ifPresent(items::add);
    }
    return items.isEmpty() ? List.of(protocol.queryLease()) : items;
  }

  private static List<String> words(List<ScriptCall> items) {
    List<String> keys = new ArrayList<>();
    List<String> arguments = new ArrayList<>();
    for (ScriptCall item : items) {
      item.keys().forEach(key -> keys.add(new String(key, UTF_8)));
      item.arguments().forEach(argument -> arguments.add(new String(argument, UTF_8)));
    }
    List<String> words = new ArrayList<>();
    words.add("EVALSHA");
    words.add(new String(items.get(0).script().sha1(), UTF_8));
    words.add(Integer.toString(keys.size()));
    words.addAll(keys);
    words.addAll(arguments);
    return words;
  }
}
