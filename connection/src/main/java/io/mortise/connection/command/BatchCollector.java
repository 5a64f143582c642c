package io.mortise.connection.command;

import com.google.common.base.Ticker;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.Lists;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Multimaps;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Gathers the items that are due in one scan of the scheduler, and sends them, many in one round
 * trip. Every item that was added is answered or failed, exactly once, whatever is thrown in
 * between: a hold that waits for its answer is not added again.
 *
 * <p><b>When there is too much to send</b>, as when a broken connection has all holds verified, a
 * few workers send it ({@link BatchQueue}), the <a
 * href="https://en.wikipedia.org/wiki/Earliest_deadline_first_scheduling">earliest deadline</a>
 * first: a short lease overtakes the batches of long ones. An item that {@linkplain
 * BatchItem#isWanted nobody wants} any more is not sent, so late items cost nothing. A worker for
 * each batch would make every batch slow: batches would time out, and their items come back before
 * their turn, until nearly all items were late.
 *
 * <p><b>Threads.</b> Only the scheduler's thread calls {@code add} and {@code flush}. The commands
 * run on workers, those of each server apart, so that a silent server delays only its own items.
 * The worker calls the items; without a worker the scheduler's thread does.
 */
public final class BatchCollector {
  /** The maximum size of a batch; it keeps a server busy for less than a millisecond. */
  static final int MAX_ITEMS = 200;

  private final ScriptExecutor executor;
  private final WorkerPool workers;
  private final Ticker ticker;

  private final BatchFaults faults = new BatchFaults();
  private final BatchSender sender;

  private List<PendingItem> gathered = new ArrayList<>();

  /** What workers have to send, by server; only the scheduler's thread uses the map. */
  private final Map<Object, BatchQueue<List<PendingItem>>> queues = new HashMap<>();

  public BatchCollector(ScriptExecutor executor, WorkerPool workers, Ticker ticker) {
    this.executor = executor;
    this.workers = workers;
    this.ticker = ticker;
    this.sender = new BatchSender(executor, faults, ticker);
  }

  public void add(BatchItem item) {
    try {
      gathered.add(new PendingItem(item));
    } catch (Throwable e) { // without a failure the item would wait for its answer
      item.onFailure(faults.unsent(e));
      throw e;
    }
  }

  /**
   * Hands over to workers what was gathered. An error of the JVM, such as an {@code
   * OutOfMemoryError}, leaves the rest for the next time: there may not be the memory to notify
   * that many items of a failure.
   *
   * @return the maximum pause until the next call, in ns: short while batches wait or are being
   *     sent, otherwise without an end
   */
  public long flush() {
    queues.values().forEach(this::startWorker);
    if (!gathered.isEmpty()) {
      try {
        byServer(gathered).forEach((server, scripts) -> dispatch(server, batches(scripts)));
        gathered = new ArrayList<>();
      } catch (VirtualMachineError e) {
        throw e;
      } catch (RuntimeException | Error e) {
        failGathered();
        throw e;
      }
    }
    queues.values().removeIf(BatchQueue::isIdle);
    return queues.isEmpty() ? Long.MAX_VALUE : BatchQueue.WINDOW_NANOS;
  }

  private void failGathered() {
    List<PendingItem> failed = gathered;
    gathered = new ArrayList<>();
    for (int i = 0; i < failed.size(); i++) { // an iterator would need memory
      if (!failed.get(i).dispatched) {
        failed.get(i).fail(faults.unsent);
      }
    }
  }

  private Map<Object, ListMultimap<Script, PendingItem>> byServer(List<PendingItem> items) {
    Map<Object, ListMultimap<Script, PendingItem>> servers = new LinkedHashMap<>();
    for (PendingItem item : items) {
      if (!item.dispatched) { // not before an error
        servers
            .computeIfAbsent(
                executor.serverOf(item.call),
                server -> MultimapBuilder.linkedHashKeys().arrayListValues().build())
            .put(item.call.script(), item);
      }
    }
    return servers;
  }

  /**
   * Returns the batches of one server: each of one script, of a bounded size, and in the order of
   * their deadlines. They are complete here, because an error on the worker would leave items
   * without an outcome.
   */
  private static List<List<PendingItem>> batches(ListMultimap<Script, PendingItem> scripts) {
    List<List<PendingItem>> batches = new ArrayList<>();
    for (List<PendingItem> items : Multimaps.asMap(scripts).values()) {
      List<PendingItem> ordered = new ArrayList<>(items);
      ordered.sort(PendingItem::compareDeadline);
      Lists.partition(ordered, MAX_ITEMS).forEach(batch -> batches.add(List.copyOf(batch)));
    }
    return batches;
  }

  /** Hands the batches of one server to its queue, each with a worker until there are enough. */
  private void dispatch(Object server, List<List<PendingItem>> batches) {
    BatchQueue<List<PendingItem>> queue =
        queues.computeIfAbsent(server, added -> new BatchQueue<>(sender));
    for (List<PendingItem> batch : batches) {
      queue.add(batch);
      for (PendingItem item : batch) {
        item.dispatched = true;
      }
      startWorker(queue);
    }
  }

  /** Starts one more worker for a queue that needs it; without any, its items fail. */
  private void startWorker(BatchQueue<List<PendingItem>> queue) {
    Throwable failure = null;
    boolean works = false;
    try {
      works = queue.startWorker(workers, ticker.read());
    } catch (Throwable e) {
      failure = e;
      works = !queue.isAbandoned();
    }
    if (!works) {
      CommandException unsent = faults.unsent(failure);
      for (List<PendingItem> batch = queue.poll(); batch != null; batch = queue.poll()) {
        sender.fail(batch, unsent);
      }
    }
  }
}
