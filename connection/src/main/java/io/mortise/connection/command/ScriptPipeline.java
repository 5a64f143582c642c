package io.mortise.connection.command;

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
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
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
   * Runs one batch script over many items, like {@link #runAll}, but never for longer than the
   * command timeout, nor than that time.
   *
   * @return for each item its answer, or the failure
   */
  public List<ScriptResult> runBatch(List<ScriptCall> items, long withinNanos) {
    return runMerged(items, Math.min(withinNanos, timeoutNanos));
  }

  /**
   * Runs many calls pipelined, at all their servers in parallel. The items of one batch script go
   * together: with one command for each slot, or several where the items of a slot are too many to
   * be written at once.
   *
   * @param withinNanos the time limit; each server gets at least a minimum of time
   * @return for each call its answer, or the failure
   */
  public List<ScriptResult> runAll(List<ScriptCall> calls, long withinNanos) {
    return runMerged(calls, Math.max(MIN_NANOS, withinNanos));
  }

  private List<ScriptResult> runMerged(List<ScriptCall> items, long withinNanos) {
    MergedRequests merged = MergedRequests.of(items, topology);
    List<ScriptResult> answers = unanswered(items.size());
    merged.distribute(runRequests(merged.requests(), withinNanos, false), answers);
    return answers;
  }

  /**
   * Runs many calls like {@link #runAll}. The calls of a part that was written take effect also
   * when their answers come too late to be read, because the server needs to know none of the
   * scripts.
   */
  public List<ScriptResult> runAllByText(List<ScriptCall> calls, long withinNanos) {
    return runRequests(
        calls.stream().map(ScriptRequest::of).toList(), Math.max(MIN_NANOS, withinNanos), true);
  }

  /** Returns the results that remain when an unexpected error prevents the answers. */
  private static List<ScriptResult> unanswered(int count) {
    ScriptResult none =
        ScriptResult.of(
            new CommandException(Kind.SCRIPT, true, "the answer could not be read", null));
    return new ArrayList<>(Collections.nCopies(count, none));
  }

  private List<ScriptResult> runRequests(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    List<List<Integer>> byServer =
        MergedRequests.grouped(
            requests.size(), i -> topology.serverOf(requests.get(i).slot(topology)));
    List<ScriptResult> answers = unanswered(requests.size());
    List<Runnable> tasks = new ArrayList<>();
    for (List<Integer> positions : byServer) {
      List<ScriptRequest> ownRequests = positions.stream().map(requests::get).toList();
      tasks.add(
          () -> {
            List<ScriptResult> results = runAtOneServer(ownRequests, withinNanos, byText);
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
  private List<ScriptResult> runAtOneServer(
      List<ScriptRequest> requests, long withinNanos, boolean byText) {
    Deadline deadline = Deadline.after(withinNanos, ticker);
    List<ScriptResult> answers = new ArrayList<>(requests.size());
    List<ScriptRequest> rest = requests;
    CommandException notSent = null;
    while (!rest.isEmpty() && notSent == null) {
      List<ScriptRequest> part = PipelinedExchange.firstPart(rest, byText);
      rest = rest.subList(part.size(), rest.size());
      try {
        if (part.size() == 1 && !byText) {
          answers.add(ScriptResult.of(run(part.get(0), deadline.leftNanos())));
        } else {
          runPipelined(part, deadline, byText, answers);
        }
      } catch (CommandException fault) {
        ScriptResult failure = ScriptResult.of(fault);
        part.forEach(request -> answers.add(failure));
        notSent = fault.isServerReply() ? null : notSentAfter(fault);
      }
      if (notSent == null && deadline.hasPassed()) {
        notSent = notSentInTime();
      }
    }
    if (notSent != null) { // the rest would wait for the same server in vain
      ScriptResult unsent = ScriptResult.of(notSent);
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

  private static CommandException notSentAfter(CommandException fault) {
    return new CommandException(
        fault.kind(), false, String.valueOf(fault.getMessage()), fault.getCause());
  }

  private void runPipelined(
      List<ScriptRequest> part, Deadline deadline, boolean byText, List<ScriptResult> answers)
      throws CommandException {
    Reply replies =
        topology.exchange(
            part.get(0).slot(topology), new PipelinedExchange(part, topology, byText), deadline);
    List<?> values = (List<?>) replies.value();
    CommandException unreachable = null;
    for (int i = 0; i < part.size(); i++) {
      Object value = values.get(i);
      if (!topology.isRedirect(value)) {
        answers.add(answer(value, replies));
      } else if (unreachable != null) { // it would wait for the same server in vain
        answers.add(ScriptResult.of(unreachable));
      } else {
        ScriptResult answer = rerunAtOwner(part.get(i), replies.before(), deadline);
        answers.add(answer);
        unreachable =
            answer.fault() == null || answer.fault().isServerReply() ? null : answer.fault();
      }
    }
  }

  /** Runs one request again, alone, at the server that has its slot. */
  private ScriptResult rerunAtOwner(
      ScriptRequest request, @Nullable CommandException before, Deadline deadline) {
    try {
      Reply reply = run(request, Math.max(MIN_NANOS, deadline.leftNanos()));
      return ScriptResult.of(reply.after(before));
    } catch (CommandException fault) {
      return ScriptResult.of(before != null ? fault.afterEarlier(before) : fault);
    }
  }

  private Reply run(ScriptRequest request, long withinNanos) throws CommandException {
    return new ScriptExchange(request, topology)
        .run(Deadline.after(Math.min(withinNanos, timeoutNanos), ticker));
  }

  private ScriptResult answer(Object value, Reply replies) {
    return value instanceof JedisDataException refusal
        ? ScriptResult.of(ErrorClassifier.of(refusal, topology.toString(), true))
        : ScriptResult.of(replies.with(value));
  }
}
