package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.Acknowledgements.Shortfall;
import io.mortise.core.internal.RedisNode.Exchange;
import io.mortise.core.spi.ScriptCall;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs scripts: EVALSHA, and EVAL with the text when the server does not know the script, as after
 * a restart, a failover, or SCRIPT FLUSH. Nothing is remembered about what a server knows.
 */
final class Commands {
  private static final int PIPELINED = 500;
  private static final long LEAST_NANOS = 100_000_000L;

  private final Deployment servers;
  private final Workers workers;
  private final Acknowledgements acknowledgements;
  private final long timeoutNanos;

  Commands(Deployment servers, Workers workers, LockOptions options) {
    this.servers = servers;
    this.workers = workers;
    this.acknowledgements = new Acknowledgements(options.acknowledgement());
    this.timeoutNanos = options.commandTimeout().toNanos();
  }

  /** How long a command may take when its caller has no shorter limit. */
  long timeoutNanos() {
    return timeoutNanos;
  }

  /** Runs one call. */
  Reply run(ScriptCall call, long withinNanos) throws Fault {
    return run(Request.of(call), withinNanos);
  }

  Reply run(ScriptCall call) throws Fault {
    return run(call, timeoutNanos);
  }

  /**
   * Makes an attempt that counts only when it is acknowledged, if that is wanted; otherwise it is
   * undone before this throws.
   *
   * @param granted whether an answer is a grant
   * @param undo what takes the grant back
   */
  Reply attempt(
      Request attempt, Predicate<Object> granted, Supplier<List<ScriptCall>> undo, long withinNanos)
      throws Fault {
    if (!acknowledgements.areWanted()) {
      return run(attempt, withinNanos);
    }
    Reply reply =
        servers.exchange(
            slotOf(attempt),
            new AcknowledgedExchange(
                new ScriptExchange(attempt, servers),
                granted,
                acknowledgements,
                () -> undo.get().stream().map(this::exchangeOf).toList()),
            Math.min(withinNanos, timeoutNanos));
    if (reply.value() instanceof Shortfall shortfall) {
      throw new Fault(shortfall.reason(), reply.repeated(), shortfall.message(), null);
    }
    return reply;
  }

  /**
   * Sends a call ahead of whoever will wait for its answer; see {@link RedisNode#send}.
   *
   * @return null when it cannot be, and has to be run as ever
   */
  @Nullable Sent send(ScriptCall call) {
    Request request = Request.of(call);
    return servers.send(slotOf(request), new ScriptExchange(request, servers), timeoutNanos);
  }

  /** Whether an attempt can be sent ahead: not if it needs more than one command. */
  boolean sendsAttempts() {
    return !acknowledgements.areWanted();
  }

  /**
   * Finds out whether the server can acknowledge as it is wanted.
   *
   * @throws Fault if it cannot; not if it cannot be asked now
   */
  void probeAcknowledgements() throws Fault {
    if (acknowledgements.areWanted()) {
      try {
        servers.exchange(0, acknowledgements::probe, timeoutNanos);
      } catch (Fault fault) {
        Fault lasting = Acknowledgements.lasting(fault);
        if (lasting != null) {
          throw lasting;
        }
        Engine.LOG.warn("{} could not be asked for WAIT yet: {}", servers, fault.getMessage());
      }
    }
  }

  private Reply run(Request request, long withinNanos) throws Fault {
    return servers.exchange(
        slotOf(request), new ScriptExchange(request, servers), Math.min(withinNanos, timeoutNanos));
  }

  /** Runs a call that must not run twice; a fault says whether it may have run. */
  Reply runOnce(ScriptCall call) throws Fault {
    Request request = Request.of(call);
    return servers.exchangeOnce(
        slotOf(request), new ScriptExchange(request, servers), timeoutNanos);
  }

  private Exchange exchangeOf(ScriptCall call) {
    return new ScriptExchange(Request.of(call), servers);
  }

  private int slotOf(Request request) {
    return servers.slotOf(request.firstKey());
  }

  /** Whether the two can go in one command. */
  boolean haveOneSlot(ScriptCall call, ScriptCall other) {
    return slotOf(Request.of(call)) == slotOf(Request.of(other));
  }

  /** What has its slot, as far as it is known; see {@link Deployment#serverOf}. */
  Object serverOf(ScriptCall call) {
    return servers.serverOf(slotOf(Request.of(call)));
  }

  /** What the server says of itself; of a cluster, one of its servers. */
  Object serverInfo() throws Fault {
    return servers
        .exchange(
            0,
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            timeoutNanos)
        .value();
  }

  /**
   * Runs one batch script over many items, in one round trip for each server and one call for each
   * slot.
   *
   * @return for each item its answer, a {@code Long}, or the fault
   */
  List<Answer> runBatch(List<ScriptCall> items, long withinNanos) {
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
    List<Answer> replies = requests(requests, Math.min(withinNanos, timeoutNanos));
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
              Reason.SCRIPT,
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
  List<Answer> runAll(List<ScriptCall> calls, long deadlineNanos) {
    return requests(
        calls.stream().map(Request::of).toList(),
        Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()));
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
    Answer none = Answer.of(new Fault(Reason.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  // ---- many at a time

  private List<Answer> requests(List<Request> requests, long withinNanos) {
    Map<Object, List<Integer>> byServer = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      Object server = servers.serverOf(slotOf(requests.get(i)));
      byServer.computeIfAbsent(server, absent -> new ArrayList<>()).add(i);
    }
    List<Answer> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> places : byServer.values()) {
      List<Request> mine = places.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<Answer> some = atOneServer(mine, withinNanos);
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
    tasks.get(tasks.size() - 1).run();
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

  private List<Answer> atOneServer(List<Request> requests, long withinNanos) {
    long deadlineNanos = System.nanoTime() + withinNanos;
    List<Answer> answers = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += PIPELINED) {
      List<Request> part = requests.subList(from, Math.min(requests.size(), from + PIPELINED));
      long left = Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime());
      try {
        if (part.size() == 1) {
          answers.add(Answer.of(run(part.get(0), Math.min(left, withinNanos))));
        } else {
          pipelined(part, left, answers);
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

  private void pipelined(List<Request> part, long withinNanos, List<Answer> answers) throws Fault {
    long deadlineNanos = System.nanoTime() + withinNanos;
    Reply replies =
        servers.exchange(
            slotOf(part.get(0)),
            (connection, deadline) -> pipelined(connection, deadline, part),
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
      Reply reply = run(request, Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()));
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
      Connection connection, long deadlineNanos, List<Request> requests) {
    for (Request request : requests) {
      connection.sendCommand(new ScriptExchange(request, servers).bySha1());
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
