package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every script in every state in which it may find the lock: what it answers, and what stands there
 * afterwards. The notation is that of {@link ScriptState}; in answers {@code T} is a token and
 * {@code ~900} a time of not much less than 900 ms.
 */
@Timeout(60)
@Tag("redis-version")
class ScriptStatesTest {
  private static RedisServer server;

  /** A script with its arguments. */
  private interface Call extends Function<ScriptState, Object> {}

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Arguments state(
      String what, String before, Call call, String answer, String after) {
    return arguments(what, before, call, answer, after);
  }

  static Stream<Arguments> reading() {
    Call once = s -> s.read("a", 9_000, "", 0);
    Call waiting = s -> s.read("a", 9_000, "", 5_000);
    Call below = s -> s.read("a", 9_000, "w!", 5_000);
    return Stream.of(
        state("free", "", once, "1 T 0", "read a:9000 ttl:9000"),
        state("repeated", "read a:50 ttl:50", once, "1 T 0", "read a:9000 ttl:9000"),
        state("late", "read a:20000 ttl:20000", once, "1 T 0", "read a:20000 ttl:20000"),
        state("beside others", "read b:20000 ttl:20000", once, "1 T 0", "read a:9000 b ttl:20000"),
        state("beside theirs", "read B*2:20000,900 ttl:20000", once, "1 T 0", "read a B ttl:20000"),
        state("under a writer", "write w! ttl:9000", once, "0 ~9000", "write w!"),
        state("and waits", "write w! ttl:9000", waiting, "2 ~9000", "write w! wait:a"),
        state("under theirs", "write W! ttl:9000", waiting, "2 ~9000", "write W! wait:a"),
        state(
            "below its own writer",
            "write w! ttl:5000",
            below,
            "1 T 0",
            "write w!:5000 a:9000 ttl:9000"),
        state(
            "below it again",
            "write w!:4000 b:9000 ttl:9000",
            below,
            "1 T 0",
            "write w!:4000 a b ttl:9000"),
        state("below another's writer", "write v! ttl:5000", below, "2 ~5000", "write v! wait:a"),
        state("repeated, no end", "read a:ever ttl:ever", once, "1 T 0", "read a:ever ttl:ever"),
        state(
            "below its own writer without an end",
            "write w! ttl:ever",
            below,
            "1 T 0",
            "write w!:ever a:9000 ttl:ever"),
        state("under a writer without an end", "write w! ttl:ever", once, "0 -1", "write w!"),
        state("a writer intends", "intent:w!", once, "0 ~5000", "free intent:w!"),
        state("and it waits", "intent:w!", waiting, "2 ~5000", "free wait:a intent:w!"),
        state(
            "a writer intends, beside others",
            "read b:9000 intent:w!",
            waiting,
            "2 ~5000",
            "read b wait:a"),
        state(
            "its turn",
            "read b:9000 intent:w! turn:a",
            waiting,
            "1 T 0",
            "read a b turn: intent:w!"),
        state("another's turn", "intent:w! turn:b", waiting, "2 ~5000", "free turn:b wait:a"),
        state("its turn, a writer", "write W! turn:a", once, "0 ~30000", "write W! turn:a"),
        state("repeated under intent", "read a:900 intent:w!", once, "1 T 0", "read a:9000"),
        state(
            "a writer that is over, whose readers stay",
            "write w! b:9000 ttl:9000 intent:v! wait:a",
            waiting,
            "1 T 0",
            "read a b turn: wait:"),
        state("a plain lock", "plain", once, "LOCKTYPE", "p"));
  }

  static Stream<Arguments> writing() {
    Call once = s -> s.write("w!", 9_000, 0);
    Call waiting = s -> s.write("w!", 9_000, 5_000);
    return Stream.of(
        state("free", "", once, "1 T 0", "write w! ttl:9000"),
        state("repeated", "write w! ttl:50", once, "1 T 0", "write w! ttl:9000"),
        state("repeated, no end", "write w! ttl:ever", once, "1 T 0", "write w! ttl:ever"),
        state("readers", "read a:900 b:9000", once, "0 ~9000", "read a b intent:"),
        state("waits", "read a:900 b:9000", waiting, "2 ~9000", "read a b intent:w!"),
        state("their readers", "read A*3:over,over,9000", waiting, "2 ~9000", "read A intent:w!"),
        state("a reader that is over", "read a:over", once, "1 T 0", "write w! ttl:9000"),
        state("theirs is over", "read A*3:over,over,over", once, "1 T 0", "write w! ttl:9000"),
        state(
            "one is over, one is not", "read a:over b:9000", waiting, "2 ~9000", "read b ttl:9000"),
        state(
            "a hash that ends before its readers",
            "read a:20000 ttl:5000",
            waiting,
            "2 ~20000",
            "read a ttl:20000"),
        state("a writer", "write v! ttl:9000", waiting, "2 ~9000", "write v! intent:w!"),
        state("theirs", "write W!", waiting, "2 ~30000", "write W! intent:w!"),
        state("another intends", "write v! intent:u!", waiting, "2 ~30000", "write v! intent:u!"),
        state("it intended", "intent:w!", waiting, "1 T 0", "write w! intent:"),
        state("another intended", "intent:u!", waiting, "1 T 0", "write w! intent:u!"),
        state("the readers' turn", "turn:a", waiting, "2 ~5000", "free intent:w! turn:a"),
        state("their turn, once", "turn:a", once, "0 ~5000", "free intent: turn:a"),
        state(
            "a writer and its readers",
            "write v!:900 b:9000 ttl:9000",
            waiting,
            "2 ~9000",
            "write v! b intent:w!"),
        state(
            "a writer that is over, whose readers stay",
            "write v! b:9000 ttl:20000 wait:c",
            waiting,
            "2 ~9000",
            "read b ttl:9000 intent:w! turn:c wait:"),
        state("both are over", "write v! b:over ttl:9000", waiting, "1 T 0", "write w! ttl:9000"),
        state(
            "their writer and its reader",
            "write V! B:9000 ttl:20000",
            waiting,
            "2 ~20000",
            "write V! B intent:w!"),
        state("a plain lock", "plain", once, "LOCKTYPE", "p"));
  }

  static Stream<Arguments> releasing() {
    Call reader = s -> s.release("a");
    Call writer = s -> s.release("w!");
    return Stream.of(
        state("the last reader", "read a:900", reader, "1 0", "free"),
        state("outlasted", "read a:900 b:9000 ttl:9000", reader, "1 0", "read b ttl:9000"),
        state("the longest", "read a:9000 b:900 ttl:9000", reader, "1 0", "read b ttl:900"),
        state("of three", "read a:9000 A*3:over,900,500 ttl:9000", reader, "1 0", "read A ttl:900"),
        state("the others are over", "read a:9000 b:over ttl:9000", reader, "1 0", "free"),
        state(
            "below its writer without an end",
            "write w!:ever a:9000 ttl:ever",
            reader,
            "1 0",
            "write w! ttl:ever"),
        state("their count", "read A*2:900,9000 a:20000 ttl:20000", reader, "1 0", "read A"),
        state(
            "below its writer",
            "write w!:5000 a:9000 ttl:9000",
            reader,
            "1 0",
            "write w! ttl:5000"),
        state(
            "one of two below",
            "write w!:5000 a:9000 b:7000 ttl:9000",
            reader,
            "1 0",
            "write w!:5000 b:7000 ttl:7000"),
        state(
            "below a writer that is over",
            "write w! a:9000 ttl:9000 wait:c",
            reader,
            "1 0",
            "free turn:c"),
        state("not there", "read b:900", reader, "0 0", "read b"),
        state("nothing there", "", reader, "0 0", "free"),
        state("the writer", "write w!", writer, "1 0", "free"),
        state("not the writer", "write v!", writer, "0 0", "write v!"),
        state("starts a turn", "write w! wait:a wait:b~", writer, "1 0", "free turn:a wait:"),
        state("none waits any more", "write w! wait:b~", writer, "1 0", "free turn: wait:"),
        state("downgrade", "write w!:900 a:9000", writer, "1 0", "read a:9000 ttl:9000"),
        state(
            "downgrade starts a turn",
            "write w!:900 a:9000 wait:b intent:v!",
            writer,
            "1 0",
            "read a turn:b intent:v!"),
        state("downgrade, the reader is over", "write w!:900 a:over", writer, "1 0", "free"));
  }

  static Stream<Arguments> leaving() {
    Call reader = s -> s.leave("a");
    Call writer = s -> s.leave("w!");
    return Stream.of(
        state("nothing", "read b:900", reader, "0 0", "read b"),
        state("waits", "write v! wait:a wait:b", reader, "1 0", "write v! wait:b"),
        state("has its turn", "turn:a turn:b", reader, "1 0", "free turn:b"),
        state("holds", "read a:900", reader, "1 0", "free"),
        state("holds and waits", "read a:900 wait:a", reader, "1 0", "free wait:"),
        state("in the queue", "read b:900 queue:w!,a", reader, "1 0", "read b queue:w!"),
        state("nothing", "intent:v! queue:v!", writer, "0 0", "free intent:v! queue:v!"),
        state("intends", "read b:900 intent:w!", writer, "1 0", "read b intent:"),
        state("holds", "write w!", writer, "1 0", "free"),
        state("at the head", "read b:900 queue:w!,a", writer, "1 0", "read b queue:a"));
  }

  static Stream<Arguments> renewing() {
    Call reader = s -> s.renew("a", 9_000);
    Call asked = s -> s.renew("a", 1);
    Call writer = s -> s.renew("w!", 9_000);
    return Stream.of(
        state("a reader", "read a:900 ttl:900", reader, "1", "read a:9000 ttl:9000"),
        state("only itself", "read a:900 b:5000", reader, "1", "read a:9000 b:5000 ttl:30000"),
        state("never shorter", "read a:20000", reader, "1", "read a:20000 ttl:30000"),
        state("only asked", "read a:5000", asked, "1", "read a:5000"),
        state(
            "cut short by a peer", "read a:50 b:50 ttl:50", reader, "1", "read a:9000 ttl:9000 b"),
        state("the hash alone", "read a:20000 b ttl:50", reader, "1", "read a:20000 b ttl:9000"),
        state("no end, asked", "read a:ever ttl:ever", asked, "1", "read a:ever ttl:ever"),
        state("no end", "read a:ever ttl:ever", reader, "1", "read a:ever ttl:ever"),
        state("no end, a writer", "write w! ttl:ever", writer, "1", "write w! ttl:ever"),
        state("released", "read b:900", reader, "0", "read b"),
        state("over", "read a:over b:900", reader, "0", "read a:over b"),
        state("a plain lock", "plain", reader, "0", "p"),
        state("a writer", "write w! ttl:900", writer, "1", "write w! ttl:9000"),
        state(
            "beside its reader",
            "write w!:900 a:20000 ttl:20000",
            writer,
            "1",
            "write w!:9000 a:20000 ttl:20000"),
        state("over, its reader stays", "write w! a:9000", writer, "0", "write w! a"));
  }

  static Stream<Arguments> forcing() {
    Call readers = s -> s.force("read");
    Call writer = s -> s.force("write");
    return Stream.of(
        state("no reader", "", readers, "0", "free"),
        state("readers that are over", "read a:over", readers, "0", "read a:over"),
        state("all readers", "read a:900 A*2:over,9000", readers, "1", "free"),
        state("a writer", "write w!", readers, "0", "write w!"),
        state("below a writer", "write w!:900 a:9000", readers, "1", "write w! ttl:900"),
        state("a plain lock", "plain", readers, "LOCKTYPE", "p"),
        state("no writer", "read a:900", writer, "0", "read a"),
        state("the writer", "write w! wait:b", writer, "1", "free turn:b"),
        state("theirs", "write W!", writer, "1", "free"),
        state("it reads on", "write w!:900 a:9000", writer, "1", "read a ttl:9000"),
        state("a plain lock", "plain", writer, "LOCKTYPE", "p"));
  }

  static Stream<Arguments> inspecting() {
    Call readers = s -> s.inspect("read");
    Call writer = s -> s.inspect("write");
    return Stream.of(
        state("free", "", readers, "-2", "free"),
        state("free", "", writer, "-2", "free"),
        state("readers", "read a:900 b:9000", readers, "~9000", "read a b"),
        state("theirs", "read A*3:over,9000,over", readers, "~9000", "read A"),
        state("over", "read a:over", readers, "-2", "read a"),
        state("read", "read a:900", writer, "-2", "read a"),
        state("written", "write w! ttl:9000", writer, "~9000", "write w!"),
        state("written", "write w! ttl:9000", readers, "-2", "write w!"),
        state("both", "write w!:900 a:9000", readers, "~9000", "write w! a"),
        state("both", "write w!:900 a:9000", writer, "~900", "write w! a"),
        state("over", "write w! a:9000", writer, "-2", "write w! a"),
        state("a plain lock", "plain", writer, "LOCKTYPE", "p"));
  }

  static Stream<Arguments> signs() {
    Call reader = s -> s.readerPresence("a");
    Call writer = s -> s.writerPresence("w!");
    return Stream.of(
        state("waits on", "write v! wait:a", reader, "1", "write v! wait:a"),
        state("does not wait", "write v!", reader, "0", "write v! wait:"),
        state("has its turn", "intent:v! turn:a", reader, "2", "free turn:a"),
        state("may come in", "read b:900 wait:a", reader, "2", "read b wait:a"),
        state("a writer intends", "read b:900 intent:v! wait:a", reader, "1", "read b wait:a"),
        state("waits on", "read b:900 intent:w!", writer, "1", "read b intent:w!"),
        state("none intends", "read b:900", writer, "0", "read b intent:"),
        state("another intends", "read b:900 intent:v!", writer, "1", "read b intent:v!"),
        state("free", "intent:w!", writer, "2", "free intent:w!"),
        state("another intends, free", "intent:v!", writer, "2", "free intent:v!"),
        state("the readers' turn", "intent:w! turn:a", writer, "1", "free turn:a"),
        state("all are over", "read b:over intent:w!", writer, "2", "free"),
        state("a writer is over", "write v! b:900 intent:w! wait:a", writer, "1", "read b turn:a"));
  }

  static Stream<Arguments> queueing() {
    Call reads = s -> s.fairRead("a", 9_000, "", 5_000);
    Call readsOnce = s -> s.fairRead("a", 9_000, "", 0);
    Call readsBelow = s -> s.fairRead("a", 9_000, "w!", 5_000);
    Call writes = s -> s.fairWrite("w!", 9_000, 5_000);
    Call writesOnce = s -> s.fairWrite("w!", 9_000, 0);
    return Stream.of(
        state("free", "", reads, "1 T 0", "read a ttl:9000 queue:"),
        state("free", "", writes, "1 T 0", "write w! ttl:9000 queue:"),
        state("beside readers", "read b:900", reads, "1 T 0", "read a b queue:"),
        state("behind a writer", "read b:900 queue:v!", reads, "2 ~5000", "read b queue:v!,a"),
        state("behind two", "read b:900 queue:v!,c", reads, "2 -1", "read b queue:v!,c,a"),
        state("once, behind one", "read b:900 queue:v!", readsOnce, "0 1", "read b queue:v!"),
        state("once, free", "queue:v!", writesOnce, "0 1", "free queue:v!"),
        state("held for writing", "write v! ttl:900", reads, "2 ~900", "write v! queue:a"),
        state("held for reading", "read b:900", writes, "2 ~900", "read b queue:w!"),
        state("at the head", "queue:w!,a", writes, "1 T 0", "write w! queue:a"),
        state("at the head", "queue:a,w!", reads, "1 T 0", "read a queue:w!"),
        state("among readers", "read b:900 queue:c,a,w!", reads, "1 T 0", "read a b queue:c,w!"),
        state("after a writer", "read b:900 queue:v!,a", reads, "2 ~5000", "read b queue:v!,a"),
        state("behind a reader", "queue:c,w!", writes, "2 ~5000", "free queue:c,w!"),
        state("behind the dead", "queue:v!~,c~,w!", writes, "1 T 0", "write w! queue:"),
        state("after a dead writer", "read b:900 queue:v!~,a", reads, "1 T 0", "read a b queue:"),
        state(
            "below its own writer",
            "write w! queue:v!",
            readsBelow,
            "1 T 0",
            "write w! a queue:v!"),
        state("not kept by an intent", "intent:v!", reads, "1 T 0", "read a intent:v!"),
        state("the others are over", "read b:over", writes, "1 T 0", "write w! queue:"),
        state("a plain lock", "plain", reads, "LOCKTYPE", "p queue:"),
        state("a plain lock", "plain", writes, "LOCKTYPE", "p queue:"),
        state("a sign", "read b:900 queue:w!", s -> s.fairPresence("w!"), "1", "read b queue:w!"),
        state("no place", "read b:900", s -> s.fairPresence("w!"), "0", "read b queue:"),
        state("free now", "queue:w!", s -> s.fairPresence("w!"), "2", "free queue:w!"),
        state("over now", "read b:over queue:w!", s -> s.fairPresence("w!"), "2", "free queue:w!"),
        state(
            "open now", "read b:900 queue:c,a", s -> s.fairPresence("a"), "2", "read b queue:c,a"),
        state(
            "all of a batch sign before anybody is taken for dead",
            "queue:v!~,w!",
            s -> s.fairPresence("w!", "v!"),
            "1 2",
            "free queue:v!,w!"),
        state(
            "all readers of a batch",
            "read b:900 queue:c,a,w!,d",
            s -> s.fairPresence("a", "d", "w!", "c"),
            "2 1 1 2",
            "read b queue:c,a,w!,d"),
        state(
            "not yet",
            "read b:900 queue:w!,a",
            s -> s.fairPresence("a"),
            "1",
            "read b queue:w!,a"));
  }

  @ParameterizedTest(name = "reading, {0}: {1} -> {4}")
  @MethodSource("reading")
  void read(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "writing, {0}: {1} -> {4}")
  @MethodSource("writing")
  void write(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "releasing, {0}: {1} -> {4}")
  @MethodSource("releasing")
  void release(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "leaving, {0}: {1} -> {4}")
  @MethodSource("leaving")
  void leave(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "renewing, {0}: {1} -> {4}")
  @MethodSource("renewing")
  void renew(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "force, {0}: {1} -> {4}")
  @MethodSource("forcing")
  void force(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "inspecting, {0}: {1} -> {3}")
  @MethodSource("inspecting")
  void inspect(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "sign of life, {0}: {1} -> {3}")
  @MethodSource("signs")
  void sign(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  @ParameterizedTest(name = "fair, {0}: {1} -> {4}")
  @MethodSource("queueing")
  void queue(String what, String before, Call call, String answer, String after) {
    check(before, call, answer, after);
  }

  private static void check(String before, Call call, String answer, String after) {
    for (String name : List.of("s:" + UUID.randomUUID(), "s:{" + UUID.randomUUID() + "}:x")) {
      ScriptState state = new ScriptState(server, name);
      state.write(before);
      if (answer.equals("LOCKTYPE")) {
        var refused = assertThrows(RuntimeException.class, () -> call.apply(state));
        assertTrue(refused.getMessage().startsWith("LOCKTYPE"), refused::getMessage);
      } else {
        assertAnswer(answer, call.apply(state));
      }
      state.assertIs(after);
    }
  }

  private static void assertAnswer(String expected, Object answer) {
    List<?> values = answer instanceof List<?> list ? list : List.of(answer);
    String[] words = expected.split(" ", -1);
    assertEquals(words.length, values.size(), values::toString);
    for (int i = 0; i < words.length; i++) {
      long value = (Long) values.get(i);
      if (words[i].equals("T")) {
        assertTrue(value > 1_000_000_000_000_000L && value < 1L << 53, values::toString);
      } else if (words[i].startsWith("~")) {
        ScriptState.assertAbout(Long.parseLong(words[i].substring(1)), value, values.toString());
      } else {
        assertEquals(words[i], Long.toString(value), values::toString);
      }
    }
  }
}
