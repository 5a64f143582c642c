package io.mortise.connection.command;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sends the batches of a {@link BatchCollector}, each of one script and to one server, and gives
 * each item its answer or its failure.
 *
 * <p><b>Threads.</b> The workers of the queues call it, each with a batch of its own.
 */
record BatchSender(ScriptExecutor executor, BatchFaults faults, Ticker ticker)
    implements BatchQueue.Handling<List<PendingItem>> {

  @Override
  public long deadlineNanos(List<PendingItem> batch) {
    return batch.get(0).deadlineNanos;
  }

  /**
   * Sends a batch; returns the fault if there was no connection for it, so that nothing was sent.
   * Outside the {@code try} nothing may need memory.
   */
  @Override
  public @Nullable CommandException send(List<PendingItem> batch, Runnable answered) {
    try {
      return sendWanted(batch, answered);
    } catch (Throwable e) {
      fail(batch, faults.noAnswer(e));
      return null;
    }
  }

  /** Without iterators, which need memory. */
  @Override
  public void fail(List<PendingItem> batch, CommandException fault) {
    for (int i = 0; i < batch.size(); i++) {
      batch.get(i).fail(fault);
    }
  }

  private @Nullable CommandException sendWanted(List<PendingItem> batch, Runnable answered) {
    List<PendingItem> wanted = new ArrayList<>(batch.size());
    for (PendingItem item : batch) {
      if (item.item.isWanted()) {
        wanted.add(item);
      } else {
        item.fail(faults.unwanted);
      }
    }
    return wanted.isEmpty() ? null : sendAll(wanted, answered);
  }

  @Override
  public void failRest(List<PendingItem> batch) {
    fail(batch, faults.unsent);
  }

  /** Returns the shortest time limit of the items; without iterators, which need memory. */
  @Override
  public long limitNanos(List<PendingItem> items) {
    long nanos = executor.timeoutNanos();
    for (int i = 0; i < items.size(); i++) {
      nanos = Math.min(nanos, items.get(i).limitNanos);
    }
    return nanos;
  }

  /** Sends one batch, of one script, and delivers the answers, unless nothing was sent. */
  private @Nullable CommandException sendAll(List<PendingItem> items, Runnable answered) {
    long withinNanos = limitNanos(items);
    List<ScriptCall> calls = new ArrayList<>(items.size());
    for (PendingItem item : items) {
      calls.add(item.item.callToSend(item.call));
    }
    long sentNanos = ticker.read();
    List<ScriptPipeline.Result> answers = executor.pipeline().runBatch(calls, withinNanos);
    CommandException notSent = faultIfNotSent(answers);
    if (notSent != null) {
      return notSent;
    }
    if (answers.stream().anyMatch(BatchSender::isAnswer)) {
      answered.run();
    }
    List<PendingItem> suspects = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      CommandException fault = answers.get(i).fault();
      if (fault == null) {
        items.get(i).answer(answers.get(i).reply().value(), sentNanos);
      } else if (fault.kind() == Kind.WRONG_TYPE) {
        suspects.add(items.get(i));
      } else {
        items.get(i).fail(fault);
      }
    }
    // One key that is no lock any more fails the script for all items: bisect, to find that item.
    if (suspects.size() == 1) {
      suspects.get(0).fail(wrongType(answers));
    } else if (!suspects.isEmpty()) {
      int half = suspects.size() / 2;
      sendPart(suspects.subList(0, half), answered);
      sendPart(suspects.subList(half, suspects.size()), answered);
    }
    return null;
  }

  private static boolean isAnswer(ScriptPipeline.Result result) {
    return result.fault() == null || result.fault().isServerReply();
  }

  private void sendPart(List<PendingItem> items, Runnable answered) {
    CommandException notSent = sendAll(items, answered);
    if (notSent != null) {
      fail(items, notSent);
    }
  }

  /** Returns the fault of all, if none of them was sent; null when one was, or was refused. */
  private static @Nullable CommandException faultIfNotSent(List<ScriptPipeline.Result> answers) {
    for (ScriptPipeline.Result answer : answers) {
      CommandException fault = answer.fault();
      if (fault == null || fault.mayHaveExecuted() || fault.isServerReply()) {
        return null;
      }
    }
    return answers.get(0).fault();
  }

  private static CommandException wrongType(List<ScriptPipeline.Result> answers) {
    return answers.stream()
        .flatMap(answer -> Stream.ofNullable(answer.fault()))
        .filter(fault -> fault.kind() == Kind.WRONG_TYPE)
        .findFirst()
        .orElseThrow();
  }
}
