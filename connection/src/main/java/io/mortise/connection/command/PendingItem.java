package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.scripts.ScriptCall;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An item of a {@code BatchCollector}. It gets one outcome, whatever is thrown on the way: the
 * first one counts. An exception of the item itself does not affect the other items.
 *
 * <p><b>Threads.</b> Any thread may deliver an outcome; a compare-and-set decides which one counts.
 */
final class PendingItem {
  private static final Logger LOG = LoggerFactory.getLogger(PendingItem.class);

  final BatchItem item;
  final ScriptCall call;

  /** Of the item when it was added: the order of a sort must not change under it. */
  final long deadlineNanos;

  /** Of the item when it was added, as the deadline. */
  final long limitNanos;

  private final AtomicBoolean delivered = new AtomicBoolean();

  /** Whether a worker has the item, or it has failed; only the scheduler's thread uses it. */
  boolean dispatched;

  PendingItem(BatchItem item) {
    this.item = item;
    this.call = item.call();
    this.deadlineNanos = item.deadlineNanos();
    this.limitNanos = item.withinNanos();
  }

  int compareDeadline(PendingItem other) {
    return Long.signum(deadlineNanos - other.deadlineNanos);
  }

  void fail(CommandException fault) {
    if (delivered.compareAndSet(false, true)) {
      try {
        item.onFailure(fault);
      } catch (Throwable e) {
        log(false, e);
      }
    }
  }

  void answer(Object value, long sentNanos) {
    if (!(value instanceof Long answer)) {
      fail(new CommandException(Kind.SCRIPT, true, "the answer cannot be read: " + value, null));
    } else if (answer < 0) {
      fail(new CommandException(Kind.SCRIPT, false, "the server refused to read the key", null));
    } else if (delivered.compareAndSet(false, true)) {
      try {
        item.onReply(answer, sentNanos);
      } catch (Throwable e) {
        log(true, e);
      }
    }
  }

  private void log(boolean answered, Throwable e) {
    try { // the message in it too: its first use needs memory
      LOG.error(
          answered
              ? "an answer could not be delivered to {}"
              : "a failure could not be delivered to {}",
          item,
          e);
    } catch (Throwable again) {
      // No memory for the log. It may be the same error again, which the JVM has made in advance.
    }
  }
}
