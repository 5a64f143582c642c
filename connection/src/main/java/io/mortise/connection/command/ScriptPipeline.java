package io.mortise.connection.command;

import com.google.common.util.concurrent.Uninterruptibles;
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
 * Runs many calls at a time: pipelined on one connection of each server, and at all servers in
 * parallel.
 *
 * <p><b>Threads.</b> Any thread may call every method. A call uses workers for all servers but one,
 * and returns when all of them are done; each result has a position of its own.
 */
public final class ScriptPipeline {
  private static final int MAX_PIPELINED = 500;
  private static final long MIN_NANOS = 100_000_000L;

  private final ScriptExecutor executor;
  private final Topology topology;
  private final WorkerPool workers;

  ScriptPipeline(ScriptExecutor executor, Topology topology, WorkerPool workers) {
    this.executor = executor;
    this.topology = topology;
    this.workers = workers;
  }

  /**
   * Runs one batch script over many items, in one round trip for each server and one call for each
   * slot.
   *
   * @return for each item its answer, a {@code Long}, or the failure
   */
  public List<ScriptPipeline.Result> runBatch(List<ScriptCall> items, long withinNanos) {
    Map<Integer, List<Integer>> positions = new LinkedHashMap<>();
    for (int i = 0; i < items.size(); i++) {
      int slot = topology.slotOf(items.get(i).keys().get(0));
      positions.computeIfAbsent(slot, absent -> new ArrayList<>()).add(i);
    }
    List<List<Integer>> parts = List.copyOf(positions.values());
    List<ScriptRequest> requests =
        parts.stream()
            .map(part -> ScriptRequest.merged(part.stream().map(items::get).toList()))
            .toList();
    List<ScriptPipeline.Result> answers = unanswered(items.size());
    List<ScriptPipeline.Result> replies =
        runRequests(requests, Math.min(withinNanos, executor.timeoutNanos()), false);
    for (int i = 0; i < parts.size(); i++) {
      distribute(replies.get(i), parts.get(i), requests.get(i), answers);
    }
    return answers;
  }

  private static void distribute(
      ScriptPipeline.Result reply,
      List<Integer> positions,
      ScriptRequest request,
      List<ScriptPipeline.Result> answers) {
    if (reply.fault() != null) {
      positions.forEach(position -> answers.set(position, reply));
    } else if (reply.reply().value() instanceof List<?> each && each.size() == positions.size()) {
      for (int i = 0; i < positions.size(); i++) {
        answers.set(positions.get(i), ScriptPipeline.Result.of(reply.reply().with(each.get(i))));
      }
    } else {
      CommandException mismatch =
          new CommandException(
              Kind.SCRIPT,
              true,
              "script '%s' has no answer for each of %d items"
                  .formatted(request.script(), positions.size()),
              null);
      positions.forEach(position -> answers.set(position, ScriptPipeline.Result.of(mismatch)));
    }
  }

  /**
   * Runs many calls pipelined, at all their servers in parallel.
   *
   * @param deadlineNanos the end of the time limit; each server gets at least a minimum of time
   * @return for each call its answer, or the failure
   */
  public List<ScriptPipeline.Result> runAll(List<ScriptCall> calls, long deadlineNanos) {
    return runRequests(
        calls.stream().map(ScriptRequest::of).toList(),
        Math.max(MIN_NANOS, deadlineNanos - System.nanoTime()),
        false);
  }

  /**
   * Runs many calls like {@link #runAll}. The calls that were written take effect also when their
   * answers come too late to be read, because the server needs to know none of the scripts.
   */
  public List<ScriptPipeline.Result> allAlsoUnread(List<ScriptCall> calls, long deadlineNanos) {
    return runRequests(
        calls.stream().map(ScriptRequest::of).toList(),
        Math.max(MIN_NANOS, deadlineNanos - System.nanoTime()),
        true);
  }

  /**
   * The answer to one of many calls, or its failure.
   *
   * @param reply the answer; an empty one when there is a failure
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

  /** Returns the results that remain when an unexpected error prevents the answers. */
  private static List<ScriptPipeline.Result> unanswered(int count) {
    ScriptPipeline.Result none =
        ScriptPipeline.Result.of(
            new CommandException(Kind.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  private List<ScriptPipeline.Result> runRequests(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    Map<Object, List<Integer>> byServer = new LinkedHashMap<>();
    for (int i = 0; i < requests.size(); i++) {
      Object server = topology.serverOf(topology.slotOf(requests.get(i).firstKey()));
      byServer.computeIfAbsent(server, absent -> new ArrayList<>()).add(i);
    }
    List<ScriptPipeline.Result> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> positions : byServer.values()) {
      List<ScriptRequest> ownRequests = positions.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<ScriptPipeline.Result> results = runAtOneServer(ownRequests, withinNanos, byText);
            for (int i = 0; i < results.size(); i++) {
              answers.set(positions.get(i), results.get(i)); // each thread has its own positions
            }
          });
    }
    inParallel(tasks);
    return answers;
  }

  /** Runs the last task on this thread, the others on workers; returns when all are done. */
  private void inParallel(List<Runnable> tasks) {
    if (tasks.isEmpty()) {
      return;
    }
    CountDownLatch remaining = new CountDownLatch(tasks.size() - 1);
    for (Runnable task : tasks.subList(0, tasks.size() - 1)) {
      Runnable counted =
          () -> {
            try {
              task.run();
            } finally {
              remaining.countDown();
            }
          };
      if (!workers.tryRun(counted)) {
        counted.run();
      }
    }
    try {
      tasks.get(tasks.size() - 1).run();
    } finally {
      Uninterruptibles.awaitUninterruptibly(remaining);
    }
  }

  private List<ScriptPipeline.Result> runAtOneServer(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    long deadlineNanos = System.nanoTime() + withinNanos;
    List<ScriptPipeline.Result> answers = new ArrayList<>(requests.size());
    for (int from = 0; from < requests.size(); from += MAX_PIPELINED) {
      List<ScriptRequest> part =
          requests.subList(from, Math.min(requests.size(), from + MAX_PIPELINED));
      long left = Math.max(MIN_NANOS, deadlineNanos - System.nanoTime());
      try {
        if (part.size() == 1 && !byText) {
          answers.add(
              ScriptPipeline.Result.of(executor.run(part.get(0), Math.min(left, withinNanos))));
        } else {
          runPipelined(part, left, byText, answers);
        }
      } catch (CommandException fault) {
        part.forEach(request -> answers.add(ScriptPipeline.Result.of(fault)));
        if (!fault.isServerReply()) { // the other calls would wait for the same server in vain
          requests
              .subList(from + part.size(), requests.size())
              .forEach(request -> answers.add(ScriptPipeline.Result.of(fault)));
          break;
        }
      }
    }
    return answers;
  }

  private void runPipelined(
      List<ScriptRequest> part,
      long withinNanos,
      boolean byText,
      List<ScriptPipeline.Result> answers)
      throws CommandException {
    long deadlineNanos = System.nanoTime() + withinNanos;
    Reply replies =
        topology.exchange(
            topology.slotOf(part.get(0).firstKey()),
            (connection, deadline) -> writeAndRead(connection, deadline, part, byText),
            withinNanos);
    List<?> values = (List<?>) replies.value();
    CommandException unreachable = null;
    for (int i = 0; i < part.size(); i++) {
      Object value = values.get(i);
      if (!topology.isRedirect(value)) {
        answers.add(answer(value, replies));
      } else if (unreachable != null) { // it would wait for the same server in vain
        answers.add(ScriptPipeline.Result.of(unreachable));
      } else {
        ScriptPipeline.Result answer = rerunAtOwner(part.get(i), replies.before(), deadlineNanos);
        answers.add(answer);
        unreachable =
            answer.fault() == null || answer.fault().isServerReply() ? null : answer.fault();
      }
    }
  }

  /** Runs one request again, alone, at the server that has its slot. */
  private ScriptPipeline.Result rerunAtOwner(
      ScriptRequest request, @Nullable CommandException before, long deadlineNanos) {
    try {
      Reply reply = executor.run(request, Math.max(MIN_NANOS, deadlineNanos - System.nanoTime()));
      return ScriptPipeline.Result.of(reply.after(before));
    } catch (CommandException fault) {
      return ScriptPipeline.Result.of(before != null ? fault.afterEarlier(before) : fault);
    }
  }

  private ScriptPipeline.Result answer(Object value, Reply replies) {
    return value instanceof JedisDataException refusal
        ? ScriptPipeline.Result.of(ErrorClassifier.of(refusal, topology.toString(), true))
        : ScriptPipeline.Result.of(replies.with(value));
  }

  // ---- on a connection

  private List<Object> writeAndRead(
      Connection connection, long deadlineNanos, List<ScriptRequest> requests, boolean byText) {
    Set<Script> unknown = new HashSet<>();
    for (ScriptRequest request : requests) {
      ScriptExchange exchange = new ScriptExchange(request, topology);
      boolean first = byText && unknown.add(request.script());
      connection.sendCommand(first ? exchange.byText() : exchange.bySha1());
    }
    List<Object> replies = new ArrayList<>(connection.getMany(requests.size()));
    for (int i = 0; i < requests.size(); i++) {
      if (replies.get(i) instanceof JedisNoScriptException) {
        replies.set(i, rerun(connection, deadlineNanos, requests.get(i)));
      }
    }
    return replies;
  }

  private Object rerun(Connection connection, long deadlineNanos, ScriptRequest request) {
    try {
      return new ScriptExchange(request, topology).on(connection, deadlineNanos);
    } catch (JedisDataException refused) {
      return refused;
    }
  }
}
