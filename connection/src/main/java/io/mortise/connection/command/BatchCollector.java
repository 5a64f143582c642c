package io.mortise.connection.command;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers the items that one scan of the scheduler finds due, and sends them, many in one round
 * trip.
 *
 * <p>{@code offer} and {@code flush} belong to the scheduler's thread. The commands run on a
 * worker, one for each server, so that one that hangs holds up nothing but itself. Every item that
 * was offered is answered or failed, exactly once, whatever is thrown in between: a hold that waits
 * for its answer is not asked for again.
 */
public final class BatchCollector {
  private static final Logger LOG = LoggerFactory.getLogger(BatchCollector.class);

  /** So many items keep a server busy for about a millisecond. */
  private static final int MOST_ITEMS = 500;

  /** One item: what is sent, and who is told the answer. */
  public interface Item {
    ScriptCall call();

    /** The answer may not take longer than this; of a batch, the least counts. */
    long withinNanos();

    /**
     * The answer to this item.
     *
     * @param sentNanos the time before the batch was sent
     */
    void onReply(long answer, long sentNanos);

    /** No answer. */
    void onFailure(CommandException fault);
  }

  private final ScriptExecutor commands;
  private final WorkerPool workers;
  private Map<Script, List<Open>> gathered = new LinkedHashMap<>();

  public BatchCollector(ScriptExecutor commands, WorkerPool workers) {
    this.commands = commands;
    this.workers = workers;
  }

  public void add(Item item) {
    try {
      Open open = new Open(item);
      gathered.computeIfAbsent(open.call.script(), script -> new ArrayList<>()).add(open);
    } catch (Throwable e) { // it must hear of that, or it would wait for its answer
      item.onFailure(unsent(e));
      throw e;
    }
  }

  public void flush() {
    if (!gathered.isEmpty()) {
      Map<Script, List<Open>> due = gathered;
      gathered = new LinkedHashMap<>();
      try {
        byServer(due.values()).forEach(this::hand);
      } finally {
        failUnhanded(due.values());
      }
    }
  }

  /** Leaves those of one server to a worker. */
  private void hand(List<List<Open>> server) {
    Throwable failure = null;
    boolean handed = false;
    try {
      handed = workers.tryRun(() -> sendAll(server));
    } catch (Throwable e) {
      failure = e;
    }
    for (List<Open> items : server) {
      for (Open item : items) {
        item.handed = true;
        if (!handed) {
          item.fail(unsent(failure));
        }
      }
    }
  }

  private static void failUnhanded(Collection<List<Open>> scripts) {
    for (List<Open> items : scripts) {
      for (Open item : items) {
        if (!item.handed) {
          item.fail(unsent(null));
        }
      }
    }
  }

  private static CommandException unsent(@Nullable Throwable cause) {
    return new CommandException(
        Kind.POOL_EXHAUSTED, false, "no thread could be started, or an error came", cause);
  }

  /** For each server the items of each script. */
  private Collection<List<List<Open>>> byServer(Collection<List<Open>> scripts) {
    Map<Object, List<List<Open>>> servers = new LinkedHashMap<>();
    for (List<Open> items : scripts) {
      Map<Object, List<Open>> parts = new LinkedHashMap<>();
      for (Open item : items) {
        parts.computeIfAbsent(commands.serverOf(item.call), server -> new ArrayList<>()).add(item);
      }
      parts.forEach(
          (server, part) -> servers.computeIfAbsent(server, s -> new ArrayList<>()).add(part));
    }
    return servers.values();
  }

  private void sendAll(List<List<Open>> scripts) {
    for (List<Open> items : scripts) {
      for (int from = 0; from < items.size(); from += MOST_ITEMS) {
        List<Open> some = items.subList(from, Math.min(items.size(), from + MOST_ITEMS));
        try {
          send(some);
        } catch (Throwable e) {
          CommandException fault =
              new CommandException(Kind.SCRIPT, true, "an error kept the answer back: " + e, e);
          some.forEach(item -> item.fail(fault));
        }
      }
    }
  }

  /** Sends one batch, of one script, and tells everybody the answer. */
  private void send(List<Open> items) {
    long within = commands.timeoutNanos();
    List<ScriptCall> calls = new ArrayList<>(items.size());
    for (Open item : items) {
      within = Math.min(within, item.item.withinNanos());
      calls.add(item.call);
    }
    long sentNanos = System.nanoTime();
    List<ScriptPipeline.Result> answers = commands.pipeline().runBatch(calls, within);
    List<Open> suspects = new ArrayList<>();
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
    // One key that is no lock any more fails the script for all: look for it, spare the others.
    if (suspects.size() == 1) {
      suspects.get(0).fail(wrongType(answers));
    } else if (!suspects.isEmpty()) {
      int half = suspects.size() / 2;
      send(suspects.subList(0, half));
      send(suspects.subList(half, suspects.size()));
    }
  }

  private static CommandException wrongType(List<ScriptPipeline.Result> answers) {
    return answers.stream()
        .flatMap(answer -> Stream.ofNullable(answer.fault()))
        .filter(fault -> fault.kind() == Kind.WRONG_TYPE)
        .findFirst()
        .orElseThrow();
  }

  /**
   * An item that was offered. It is told once, whatever is thrown on the way: the first who tells
   * it does, and what the item throws itself stops nobody else.
   */
  private static final class Open {
    final Item item;
    final ScriptCall call;
    private final AtomicBoolean told = new AtomicBoolean();

    /** Whether a worker has it, or it was told that none has; the scheduler's thread alone. */
    boolean handed;

    Open(Item item) {
      this.item = item;
      this.call = item.call();
    }

    void fail(CommandException fault) {
      if (told.compareAndSet(false, true)) {
        try {
          item.onFailure(fault);
        } catch (Throwable e) {
          log("a fault could not be told to {}", e);
        }
      }
    }

    void answer(Object value, long sentNanos) {
      if (!(value instanceof Long answer)) {
        fail(new CommandException(Kind.SCRIPT, true, "the answer cannot be read: " + value, null));
      } else if (answer < 0) {
        fail(new CommandException(Kind.SCRIPT, false, "Redis refused to say", null));
      } else if (told.compareAndSet(false, true)) {
        try {
          item.onReply(answer, sentNanos);
        } catch (Throwable e) {
          log("an answer could not be told to {}", e);
        }
      }
    }

    private void log(String what, Throwable e) {
      try {
        LOG.error(what, item, e);
      } catch (Throwable again) {
        e.addSuppressed(again); // there is no memory even for that
      }
    }
  }
}
