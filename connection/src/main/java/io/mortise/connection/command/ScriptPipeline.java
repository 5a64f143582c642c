package io.mortise.connection.command;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Runs many calls at a time: pipelined on one connection of each server, and at all servers in
 * parallel.
 *
 * <p><b>Threads.</b> Any thread may call every method. A call uses workers for all servers but one,
 * and returns when all of them are done; each result has a position of its own.
 */
public final class ScriptPipeline {
  private static final long MIN_NANOS = 100_000_000L;

  private final Topology topology;
  private final WorkerPool workers;
  private final long timeoutNanos;
  private final Ticker ticker;

  ScriptPipeline(Topology topology, WorkerPool workers, ConnectionSettings settings) {
    this.topology = topology;
    this.workers = workers;
    this.timeoutNanos = settings.commandTimeout().toNanos();
    this.ticker = settings.ticker();
  }

  /**
   * Runs one batch script over many items, with one call for each slot, or several where the items
   * of a slot are too many to be written at once.
   *
   * @return for each item its answer, a {@code Long}, or the failure
   */
  public List<Result> runBatch(List<ScriptCall> items, long withinNanos) {
    List<List<Integer>> parts =
        grouped(items.size(), i -> ScriptRequest.of(items.get(i)).slot(topology)).stream()
            .map(slot -> WriteBound.parts(slot, i -> ScriptRequest.of(items.get(i)).bytes()))
            .flatMap(List::stream)
            .toList();
    List<ScriptRequest> requests =
        parts.stream()
            .map(part -> ScriptRequest.merged(part.stream().map(items::get).toList()))
            .toList();
    List<Result> answers = unanswered(items.size());
    List<Result> replies = runRequests(requests, Math.min(withinNanos, timeoutNanos), false);
    for (int i = 0; i < parts.size(); i++) {
      distribute(replies.get(i), parts.get(i), requests.get(i), answers);
    }
    return answers;
  }

  private static void distribute(
      Result reply, List<Integer> positions, ScriptRequest request, List<Result> answers) {
    if (reply.fault() != null) {
      positions.forEach(position -> answers.set(position, reply));
    } else if (reply.reply().value() instanceof List<?> each && each.size() == positions.size()) {
      for (int i = 0; i < positions.size(); i++) {
        answers.set(positions.get(i), Result.of(reply.reply().with(each.get(i))));
      }
    } else {
      CommandException mismatch =
          new CommandException(
              Kind.SCRIPT,
              true,
              "script '%s' has no answer for each of %d items"
                  .formatted(request.script(), positions.size()),
              null);
      positions.forEach(position -> answers.set(position, Result.of(mismatch)));
    }
  }

  /** Returns the positions from 0 on that have the same key together, in their order. */
  private static List<List<Integer>> grouped(int count, Function<Integer, Object> key) {
    List<Integer> positions = IntStream.range(0, count).boxed().toList();
    return List.copyOf(
        positions.stream().collect(groupingBy(key, LinkedHashMap::new, toList())).values());
  }

  /**
   * Runs many calls pipelined, at all their servers in parallel.
   *
   * @param withinNanos the time limit; each server gets at least a minimum of time
   * @return for each call its answer, or the failure
   */
  public List<Result> runAll(List<ScriptCall> calls, long withinNanos) {
    return runAll(calls, withinNanos, false);
  }

  /**
   * Runs many calls like {@link #runAll}. The calls of a part that was written take effect also
   * when their answers come too late to be read, because the server needs to know none of the
   * scripts.
   */
  public List<Result> runAllByText(List<ScriptCall> calls, long withinNanos) {
    return runAll(calls, withinNanos, true);
  }

  private List<Result> runAll(List<ScriptCall> calls, long withinNanos, boolean byText) {
    return runRequests(
        calls.stream().map(ScriptRequest::of).toList(), Math.max(MIN_NANOS, withinNanos), byText);
  }

  /** The answer to one of many calls, or an empty one and its failure. */
  public record Result(Reply reply, @Nullable CommandException fault) {
    private static final Reply NO_REPLY = new Reply("", null, null);

    static Result of(Reply reply) {
      return new Result(reply, null);
    }

    static Result of(CommandException fault) {
      return new Result(NO_REPLY, fault);
    }
  }

  /** Returns the results that remain when an unexpected error prevents the answers. */
  private static List<Result> unanswered(int count) {
    Result none =
        Result.of(new CommandException(Kind.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  private List<Result> runRequests(List<ScriptRequest> requests, long withinNanos, boolean byText) {
    List<List<Integer>> byServer =
        grouped(requests.size(), i -> topology.serverOf(requests.get(i).slot(topology)));
    List<Result> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> positions : byServer) {
      List<ScriptRequest> ownRequests = positions.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<Result> results = runAtOneServer(ownRequests, withinNanos, byText);
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

  /**
   * Runs the requests in parts: the next part is written when the replies to the one before have
   * been read. All parts have one deadline. When it has passed, or a part has no reply, the rest is
   * not sent, and its failures say so.
   */
  private List<Result> runAtOneServer(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    Deadline deadline = Deadline.after(withinNanos, ticker);
    List<Result> answers = new ArrayList<>(requests.size());
    List<ScriptRequest> rest = requests;
    CommandException notSent = null;
    while (!rest.isEmpty() && notSent == null) {
      List<ScriptRequest> part = PipelinedExchange.firstPart(rest, byText);
      rest = rest.subList(part.size(), rest.size());
      try {
        if (part.size() == 1 && !byText) {
          answers.add(Result.of(run(part.get(0), deadline.leftNanos())));
        } else {
          runPipelined(part, deadline, byText, answers);
        }
      } catch (CommandException fault) {
        Result failure = Result.of(fault);
        part.forEach(request -> answers.add(failure));
        notSent = fault.isServerReply() ? null : fault.ofUnsent();
      }
      if (notSent == null && deadline.hasPassed()) {
        notSent = notSentInTime();
      }
    }
    if (notSent != null) { // the rest would wait for the same server in vain
      Result unsent = Result.of(notSent);
      rest.forEach(request -> answers.add(unsent));
    }
    return answers;
  }

  private CommandException notSentInTime() {
    return new CommandException(
        Kind.UNREACHABLE,
        false,
        topology + " did not answer the commands before in time",
        new TimeoutException());
  }

  private void runPipelined(
      List<ScriptRequest> part, Deadline deadline, boolean byText, List<Result> answers)
      throws CommandException {
    Reply replies =
        topology.exchange(
            part.get(0).slot(topology), new PipelinedExchange(part, topology, byText), deadline);
    List<?> values = (List<?>) replies.value();
    Deadline end = Deadline.after(Math.max(MIN_NANOS, deadline.leftNanos()), ticker); // of them all
    RedirectedRequests redirected =
        new RedirectedRequests(topology, request -> runUntil(end, request), replies.before());
    for (int i = 0; i < part.size(); i++) {
      Object value = values.get(i);
      answers.add(
          topology.isRedirect(value)
              ? sendAgain(redirected, part.get(i), value)
              : answer(value, replies));
    }
  }

  private static Result sendAgain(
      RedirectedRequests redirected, ScriptRequest request, Object redirection) {
    try {
      return Result.of(redirected.send(request, redirection));
    } catch (CommandException fault) {
      return Result.of(fault);
    }
  }

  private Reply runUntil(Deadline end, ScriptRequest request) throws CommandException {
    if (end.hasPassed()) {
      throw notSentInTime();
    }
    return run(request, end.leftNanos());
  }

  private Reply run(ScriptRequest request, long withinNanos) throws CommandException {
    return new ScriptExchange(request, topology)
        .run(Deadline.after(Math.min(withinNanos, timeoutNanos), ticker));
  }

  private Result answer(Object value, Reply replies) {
    return value instanceof JedisDataException refusal
        ? Result.of(
            ErrorClassifier.of(refusal, topology.toString(), true).afterEarlier(replies.before()))
        : Result.of(replies.with(value));
  }
}
