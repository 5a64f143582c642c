package io.mortise.core.internal;

import io.mortise.core.internal.Fault.Kind;
import io.mortise.core.spi.ScriptCall;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs many calls at a time: one behind the other on one connection of each server, and all servers
 * at once.
 */
final class ManyCommands {
  private static final int PIPELINED = 500;
  private static final long LEAST_NANOS = 100_000_000L;

  private final Commands commands;
  private final Deployment servers;
  private final Workers workers;

  ManyCommands(Commands commands, Deployment servers, Workers workers) {
    this.commands = commands;
    this.servers = servers;
    this.workers = workers;
  }

  /**
   * Runs one batch script over many items, in one round trip for each server and one call for each
   * slot.
   *
   * @return for each item its answer, a {@code Long}, or the fault
   */
  List<Answer> batch(List<ScriptCall> items, long withinNanos) {
    Map<Integer, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < items.size(); i++) {
      int slot = servers.slotOf(items.get(i).keys().get(0));
      places.computeIfAbsent(slot, absent -> new ArrayList<>()).add(i);
    }
    List<List<Integer>> parts = List.copyOf(places.values());
    List<Request> requests =
        parts.stream()
            .map(part -> Request.together(part.stream().map(items::get).toList()))
            .toList();
    List<Answer> answers = unanswered(items.size());
    List<Answer> replies =
        requests(requests, Math.min(withinNanos, commands.timeoutNanos()), false);
    for (int i = 0; i < parts.size(); i++) {
      spread(replies.get(i), parts.get(i), requests.get(i), answers);
    }
    return answers;
  }

  private static void spread(
      Answer reply, List<Integer> places, Request request, List<Answer> answers) {
    if (reply.fault() != null) {
      places.forEach(place -> answers.set(place, reply));
    } else if (reply.reply().value() instanceof List<?> each && each.size() == places.size()) {
      for (int i = 0; i < places.size(); i++) {
        answers.set(places.get(i), Answer.of(reply.reply().with(each.get(i))));
      }
    } else {
      Fault odd =
          new Fault(
              Kind.SCRIPT,
              true,
              "script '%s' has no answer for each of %d items"
                  .formatted(request.script(), places.size()),
              null);
      places.forEach(place -> answers.set(place, Answer.of(odd)));
    }
  }

  /**
   * Runs many calls one behind the other, without waiting in between, at all their servers at the
   * same time.
   *
   * @param deadlineNanos when to end; a little time is left also when it is over
   * @return for each call its answer, or the fault
   */
  List<Answer> all(List<ScriptCall> calls, long deadlineNanos) {
    return requests(
        calls.stream().map(Request::of).toList(),
        Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()),
        false);
  }

  /**
   * As {@link #all}; and what is written takes effect also if the answers come too late to be read,
   * because the server needs to know none of the scripts.
   */
  List<Answer> allAlsoUnread(List<ScriptCall> calls, long deadlineNanos) {
    return requests(
        calls.stream().map(Request::of).toList(),
        Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()),
        true);
  }

  /**
   * One of many answers.
   *
   * @param reply an empty one when there is a fault
   */
  record Answer(Reply reply, @Nullable Fault fault) {
    private static final Reply NO_REPLY = new Reply("", null, null);

    static Answer of(Reply reply) {
      return new Answer(reply, null);
    }

    static Answer of(Fault fault) {
      return new Answer(NO_REPLY, fault);
    }
  }

  /** What stands where an unexpected error keeps the answer from coming. */
  private static List<Answer> unanswered(int count) {
    Answer none = Answer.of(new Fault(Kind.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  private List<Answer> requests(List<Request> requests, long withinNanos, boolean byText) {
    Map<Object, List<Integer>> byServer = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      Object server = servers.serverOf(servers.slotOf(requests.get(i).firstKey()));
      byServer.computeIfAbsent(server, absent -> new ArrayList<>()).add(i);
    }
    List<Answer> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> places : byServer.values()) {
      List<Request> mine = places.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<Answer> some = atOneServer(mine, withinNanos, byText);
            for (int i = 0; i < some.size(); i++) {
              answers.set(places.get(i), some.get(i)); // a place of its own for each thread
            }
          });
    }
    atOnce(tasks);
    return answers;
  }

  /** The last on this thread, the others on workers; returns when all are done. */
  private void atOnce(List<Runnable> tasks) {
    if (tasks.isEmpty()) {
      return;
    }
    CountDownLatch open = new CountDownLatch(tasks.size() - 1);
    for (Runnable task : tasks.subList(0, tasks.size() - 1)) {
      Runnable counted =
          () -> {
            try {
              task.run();
            } finally {
              open.countDown();
            }
          };
      if (!workers.tryRun(counted)) {
        counted.run();
      }
    }
    try {
      tasks.get(tasks.size() - 1).run();
    } finally {
      awaitUninterruptibly(open);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch open) {
    boolean interrupted = false;
    while (true) {
      try {
        open.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private List<Answer> atOneServer(List<Request> requests, long withinNanos, boolean byText) {
    long deadlineNanos = System.nanoTime() + withinNanos;
    List<Answer> answers = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += PIPELINED) {
      List<Request> part = requests.subList(from, Math.min(requests.size(), from + PIPELINED));
      long left = Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime());
      try {
        if (part.size() == 1 && !byText) {
          answers.add(Answer.of(commands.run(part.get(0), Math.min(left, withinNanos))));
        } else {
          pipelined(part, left, byText, answers);
        }
      } catch (Fault fault) {
        part.forEach(request -> answers.add(Answer.of(fault)));
        if (!fault.isAnswer()) { // the rest would only wait for the same server
          requests
              .subList(from + part.size(), requests.size())
              .forEach(request -> answers.add(Answer.of(fault)));
          break;
        }
      }
    }
    return answers;
  }

  private void pipelined(List<Request> part, long withinNanos, boolean byText, List<Answer> answers)
      throws Fault {
    long deadlineNanos = System.nanoTime() + withinNanos;
    Reply replies =
        servers.exchange(
            servers.slotOf(part.get(0).firstKey()),
            (connection, deadline) -> pipelined(connection, deadline, part, byText),
            withinNanos);
    List<?> values = (List<?>) replies.value();
    Fault silence = null;
    for (int i = 0; i < part.size(); i++) {
      Object value = values.get(i);
      if (!servers.isElsewhere(value)) {
        answers.add(answer(value, replies));
      } else if (silence != null) { // it would only wait for the same server
        answers.add(Answer.of(silence));
      } else {
        Answer answer = elsewhere(part.get(i), replies.before(), deadlineNanos);
        answers.add(answer);
        silence = answer.fault() == null || answer.fault().isAnswer() ? null : answer.fault();
      }
    }
  }

  /** Alone, where it belongs. */
  private Answer elsewhere(Request request, @Nullable Fault before, long deadlineNanos) {
    try {
      Reply reply = commands.run(request, Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()));
      return Answer.of(reply.after(before));
    } catch (Fault fault) {
      return Answer.of(before != null ? fault.after(before) : fault);
    }
  }

  private Answer answer(Object value, Reply replies) {
    return value instanceof JedisDataException refusal
        ? Answer.of(Faults.of(refusal, servers.toString(), true))
        : Answer.of(replies.with(value));
  }

  // ---- on a connection

  private List<Object> pipelined(
      Connection connection, long deadlineNanos, List<Request> requests, boolean byText) {
    Set<Script> unknown = new HashSet<>();
    for (Request request : requests) {
      ScriptExchange exchange = new ScriptExchange(request, servers);
      boolean first = byText && unknown.add(request.script());
      connection.sendCommand(first ? exchange.byText() : exchange.bySha1());
    }
    List<Object> replies = new ArrayList<>(connection.getMany(requests.size()));
    for (int i = 0; i < requests.size(); i++) {
      if (replies.get(i) instanceof JedisNoScriptException) {
        replies.set(i, again(connection, deadlineNanos, requests.get(i)));
      }
    }
    return replies;
  }

  private Object again(Connection connection, long deadlineNanos, Request request) {
    try {
      return new ScriptExchange(request, servers).on(connection, deadlineNanos);
    } catch (JedisDataException refused) {
      return refused;
    }
  }
}
