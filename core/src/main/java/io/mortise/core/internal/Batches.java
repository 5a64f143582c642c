package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.internal.ManyCommands.Answer;
import io.mortise.core.spi.ScriptCall;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Gathers the items that one scan of the scheduler finds due, and sends them, many in one round
 * trip.
 *
 * <p>{@code offer} and {@code flush} belong to the scheduler's thread. The commands run on a
 * worker, one for each server, so that one that hangs holds up nothing but itself.
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
      OutOfMemoryError failure = null;
      for (List<List<Item>> server : byServer(due.values())) {
        try {
          workers.run(() -> server.forEach(this::sendAll));
        } catch (OutOfMemoryError noThread) {
          failure = noThread;
          Fault fault =
              new Fault(Reason.NO_CONNECTION_FREE, false, "no thread could be started", noThread);
          server.forEach(items -> items.forEach(item -> fail(item, fault)));
        }
      }
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** For each server the items of each script. */
  private Collection<List<List<Item>>> byServer(Collection<List<Item>> scripts) {
    Map<Object, List<List<Item>>> servers = new LinkedHashMap<>();
    for (List<Item> items : scripts) {
      Map<Object, List<Item>> parts = new LinkedHashMap<>();
      for (Item item : items) {
        parts
            .computeIfAbsent(commands.serverOf(item.call()), server -> new ArrayList<>())
            .add(item);
      }
      parts.forEach(
          (server, part) -> servers.computeIfAbsent(server, s -> new ArrayList<>()).add(part));
    }
    return servers.values();
  }

  private void sendAll(List<Item> items) {
    for (int from = 0; from < items.size(); from += MOST_ITEMS) {
      send(items.subList(from, Math.min(items.size(), from + MOST_ITEMS)));
    }
  }

  /** Sends one batch, of one script, and tells everybody the answer. Never throws. */
  void send(List<? extends Item> items) {
    long within = commands.timeoutNanos();
    List<ScriptCall> calls = new ArrayList<>(items.size());
    for (Item item : items) {
      within = Math.min(within, item.withinNanos());
      calls.add(item.call());
    }
    long sentNanos = System.nanoTime();
    List<Answer> answers = commands.many().batch(calls, within);
    List<Item> suspects = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Fault fault = answers.get(i).fault();
      if (fault == null) {
        tell(items.get(i), answers.get(i).reply().value(), sentNanos);
      } else if (fault.reason() == Reason.WRONG_TYPE) {
        suspects.add(items.get(i));
      } else {
        fail(items.get(i), fault);
      }
    }
    // One key that is no lock any more fails the script for all: look for it, spare the others.
    if (suspects.size() == 1) {
      fail(suspects.get(0), wrongType(answers));
    } else if (!suspects.isEmpty()) {
      int half = suspects.size() / 2;
      send(suspects.subList(0, half));
      send(suspects.subList(half, suspects.size()));
    }
  }

  private static Fault wrongType(List<Answer> answers) {
    return answers.stream()
        .flatMap(answer -> Stream.ofNullable(answer.fault()))
        .filter(fault -> fault.reason() == Reason.WRONG_TYPE)
        .findFirst()
        .orElseThrow();
  }

  private static void fail(Item item, Fault fault) {
    try {
      item.failed(fault);
    } catch (RuntimeException e) {
      Engine.LOG.error("a fault could not be told to {}", item, e);
    }
  }

  private static void tell(Item item, Object value, long sentNanos) {
    try {
      if (!(value instanceof Long answer)) {
        Engine.LOG.error("the answer to {} cannot be read: {}", item, value);
        item.failed(new Fault(Reason.SCRIPT, true, "the answer cannot be read", null));
        return;
      }
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
