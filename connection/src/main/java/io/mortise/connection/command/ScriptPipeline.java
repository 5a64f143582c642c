package io.mortise.connection.command;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
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
public final class ScriptPipeline {
  private static final int PIPELINED = 500;
  private static final long LEAST_NANOS = 100_000_000L;

  private final ScriptExecutor commands;
  private final Topology servers;
  private final WorkerPool workers;

  ScriptPipeline(ScriptExecutor commands, Topology servers, WorkerPool workers) {
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
  public List<ScriptPipeline.Result> runBatch(List<ScriptCall> items, long withinNanos) {
    Map<Integer, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < items.size(); i++) {
      int slot = servers.slotOf(items.get(i).keys().get(0));
      places.computeIfAbsent(slot, absent -> new ArrayList<>()).add(i);
    }
    List<List<Integer>> parts = List.copyOf(places.values());
    List<ScriptRequest> requests =
        parts.stream()
            .map(part -> ScriptRequest.merged(part.stream().map(items::get).toList()))
            .toList();
    List<ScriptPipeline.Result> answers = unanswered(items.size());
    List<ScriptPipeline.Result> replies =
        requests(requests, Math.min(withinNanos, commands.timeoutNanos()), false);
    for (int i = 0; i < parts.size(); i++) {
      spread(replies.get(i), parts.get(i), requests.get(i), answers);
    }
    return answers;
  }

  private static void spread(
      ScriptPipeline.Result reply,
      List<Integer> places,
      ScriptRequest request,
      List<ScriptPipeline.Result> answers) {
    if (reply.fault() != null) {
      places.forEach(place -> answers.set(place, reply));
    } else if (reply.reply().value() instanceof List<?> each && each.size() == places.size()) {
      for (int i = 0; i < places.size(); i++) {
        answers.set(places.get(i), ScriptPipeline.Result.of(reply.reply().with(each.get(i))));
      }
    } else {
      CommandException odd =
          new CommandException(
              Kind.SCRIPT,
              true,
              "script '%s' has no answer for each of %d items"
                  .formatted(request.script(), places.size()),
              null);
      places.forEach(place -> answers.set(place, ScriptPipeline.Result.of(odd)));
    }
  }

  /**
   * Runs many calls one behind the other, without waiting in between, at all their servers at the
   * same time.
   *
   * @param deadlineNanos when to end; a little time is left also when it is over
   * @return for each call its answer, or the fault
   */
  public List<ScriptPipeline.Result> runAll(List<ScriptCall> calls, long deadlineNanos) {
    return requests(
        calls.stream().map(ScriptRequest::of).toList(),
        Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()),
        false);
  }

  /**
   * As {@link #runAll}; and what is written takes effect also if the answers come too late to be
   * read, because the server needs to know none of the scripts.
   */
  public List<ScriptPipeline.Result> allAlsoUnread(List<ScriptCall> calls, long deadlineNanos) {
    return requests(
        calls.stream().map(ScriptRequest::of).toList(),
        Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()),
        true);
  }

  /**
   * One of many answers.
   *
   * @param reply an empty one when there is a fault
   */
  public record Result(Reply reply, @Nullable CommandException fault) {
    private static final Reply NO_REPLY = new Reply("", null, null);

    static ScriptPipeline.Result of(Reply reply) {
      return new ScriptPipeline.Result(reply, null);
    }

    static ScriptPipeline.Result of(CommandException fault) {
      return new ScriptPipeline.Result(NO_REPLY, fault);
    }
  }

  /** What stands where an unexpected error keeps the answer from coming. */
  private static List<ScriptPipeline.Result> unanswered(int count) {
    ScriptPipeline.Result none =
        ScriptPipeline.Result.of(
            new CommandException(Kind.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  private List<ScriptPipeline.Result> requests(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    Map<Object, List<Integer>> byServer = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      Object server = servers.serverOf(servers.slotOf(requests.get(i).firstKey()));
      byServer.computeIfAbsent(server, absent -> new ArrayList<>()).add(i);
    }
    List<ScriptPipeline.Result> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> places : byServer.values()) {
      List<ScriptRequest> mine = places.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<ScriptPipeline.Result> some = atOneServer(mine, withinNanos, byText);
            for (int i = 0; i < some.size(); i++) {
              answers.set(places.get(i), some.get(i)); // a place of its own for each thread
            }
          });
    }
    inParallel(tasks);
    return answers;
  }

  /** The last on this thread, the others on workers; returns when all are done. */
  private void inParallel(List<Runnable> tasks) {
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

  private List<ScriptPipeline.Result> atOneServer(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    long deadlineNanos = System.nanoTime() + withinNanos;
    List<ScriptPipeline.Result> answers = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += PIPELINED) {
      List<ScriptRequest> part =
          requests.subList(from, Math.min(requests.size(), from + PIPELINED));
      long left = Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime());
      try {
        if (part.size() == 1 && !byText) {
          answers.add(
              ScriptPipeline.Result.of(commands.run(part.get(0), Math.min(left, withinNanos))));
        } else {
          pipelined(part, left, byText, answers);
        }
      } catch (CommandException fault) {
        part.forEach(request -> answers.add(ScriptPipeline.Result.of(fault)));
        if (!fault.isServerReply()) { // the rest would only wait for the same server
          requests
              .subList(from + part.size(), requests.size())
              .forEach(request -> answers.add(ScriptPipeline.Result.of(fault)));
          break;
        }
      }
    }
    return answers;
  }

  private void pipelined(
      List<ScriptRequest> part,
      long withinNanos,
      boolean byText,
      List<ScriptPipeline.Result> answers)
      throws CommandException {
    long deadlineNanos = System.nanoTime() + withinNanos;
    Reply replies =
        servers.exchange(
            servers.slotOf(part.get(0).firstKey()),
            (connection, deadline) -> pipelined(connection, deadline, part, byText),
            withinNanos);
    List<?> values = (List<?>) replies.value();
    CommandException silence = null;
    for (int i = 0; i < part.size(); i++) {
      Object value = values.get(i);
      if (!servers.isRedirect(value)) {
        answers.add(answer(value, replies));
      } else if (silence != null) { // it would only wait for the same server
        answers.add(ScriptPipeline.Result.of(silence));
      } else {
        ScriptPipeline.Result answer = rerunAtOwner(part.get(i), replies.before(), deadlineNanos);
        answers.add(answer);
        silence = answer.fault() == null || answer.fault().isServerReply() ? null : answer.fault();
      }
    }
  }

  /** Alone, where it belongs. */
  private ScriptPipeline.Result rerunAtOwner(
      ScriptRequest request, @Nullable CommandException before, long deadlineNanos) {
    try {
      Reply reply = commands.run(request, Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime()));
      return ScriptPipeline.Result.of(reply.after(before));
    } catch (CommandException fault) {
      return ScriptPipeline.Result.of(before != null ? fault.afterEarlier(before) : fault);
    }
  }

  private ScriptPipeline.Result answer(Object value, Reply replies) {
    return value instanceof JedisDataException refusal
        ? ScriptPipeline.Result.of(ErrorClassifier.of(refusal, servers.toString(), true))
        : ScriptPipeline.Result.of(replies.with(value));
  }

  // ---- on a connection

  private List<Object> pipelined(
      Connection connection, long deadlineNanos, List<ScriptRequest> requests, boolean byText) {
    Set<Script> unknown = new HashSet<>();
    for (ScriptRequest request : requests) {
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

  private Object again(Connection connection, long deadlineNanos, ScriptRequest request) {
    try {
      return new ScriptExchange(request, servers).on(connection, deadlineNanos);
    } catch (JedisDataException refused) {
      return refused;
    }
  }
}
