package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.ScriptCall;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Gathers the items that one scan of the scheduler finds due, and sends them, many in one round
 * trip.
 *
 * <p>{@code offer} and {@code flush} belong to the scheduler's thread. The commands run on a
 * worker, one for each node, so that a node that hangs holds up nothing but itself.
 */
final class Batches {
  /** So many items keep a server busy for about a millisecond. */
  private static final int MOST_ITEMS = 500;

  /** One item: what is sent, and who is told the answer. */
  interface Item {
    ScriptCall call();

    /** The answer may not take longer than this; of a batch, the least counts. */
    long withinNanos();

    /**
     * The answer to this item.
     *
     * @param sentNanos the time before the batch was sent
     */
    void answered(long answer, long sentNanos);

    /** No answer. */
    void failed(Fault fault);
  }

  private final Commands commands;
  private final Workers workers;
  private Map<Script, List<Item>> gathered = new LinkedHashMap<>();

  Batches(Commands commands, Workers workers) {
    this.commands = commands;
    this.workers = workers;
  }

  void offer(Item item) {
    gathered.computeIfAbsent(item.call().script(), script -> new ArrayList<>()).add(item);
  }

  void flush() {
    if (!gathered.isEmpty()) {
      Map<Script, List<Item>> due = gathered;
      gathered = new LinkedHashMap<>();
      try {
        workers.run(() -> due.forEach(this::sendAll));
      } catch (OutOfMemoryError noThread) {
        Fault fault =
            new Fault(Reason.NO_CONNECTION_FREE, false, "no thread could be started", noThread);
        due.values().forEach(items -> items.forEach(item -> fail(item, fault)));
        throw noThread;
      }
    }
  }

  private void sendAll(Script script, List<Item> items) {
    for (int from = 0; from < items.size(); from += MOST_ITEMS) {
      send(script, items.subList(from, Math.min(items.size(), from + MOST_ITEMS)));
    }
  }

  /** Sends one batch and tells everybody the answer. Never throws. */
  void send(Script script, List<? extends Item> items) {
    long within = commands.timeoutNanos();
    List<ScriptCall> calls = new ArrayList<>(items.size());
    for (Item item : items) {
      within = Math.min(within, item.withinNanos());
      calls.add(item.call());
    }
    long sentNanos = System.nanoTime();
    try {
      List<Long> answers = commands.runBatch(calls, within);
      for (int i = 0; i < items.size(); i++) {
        tell(items.get(i), answers.get(i), sentNanos);
      }
    } catch (Fault fault) {
      if (fault.reason() == Reason.WRONG_TYPE && items.size() > 1) {
        // One key that is no lock any more fails the script for all: look for it, spare the others.
        int half = items.size() / 2;
        send(script, items.subList(0, half));
        send(script, items.subList(half, items.size()));
      } else {
        items.forEach(item -> fail(item, fault));
      }
    } catch (RuntimeException unexpected) {
      Engine.LOG.error("the answer to {} cannot be read", script, unexpected);
      Fault fault =
          new Fault(Reason.SCRIPT, true, "the answer to " + script + " cannot be read", unexpected);
      items.forEach(item -> fail(item, fault));
    }
  }

  private static void fail(Item item, Fault fault) {
    try {
      item.failed(fault);
    } catch (RuntimeException e) {
      Engine.LOG.error("a fault could not be told to {}", item, e);
    }
  }

  private static void tell(Item item, long answer, long sentNanos) {
    try {
      if (answer < 0) {
        item.failed(new Fault(Reason.SCRIPT, false, "Redis refused to say", null));
        return;
      }
      item.answered(answer, sentNanos);
    } catch (RuntimeException e) {
      Engine.LOG.error("an answer could not be told to {}", item, e);
    }
  }
}
