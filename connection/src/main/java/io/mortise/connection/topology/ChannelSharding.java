package io.mortise.connection.topology;

import com.google.common.base.Ticker;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;

/**
 * Learns from the masters of a cluster whether its channels have slots: they do when all masters
 * know SPUBLISH.
 *
 * <p><b>An upgrade.</b> Each node is asked when it becomes a master, because a failover may lead to
 * one of another version. A master that lacks SPUBLISH is asked again every few seconds, because it
 * may have restarted with another version in less time than a failover takes. One that knows it is
 * not asked again while it is a master.
 *
 * <p><b>A master that does not answer</b>, or refuses the question, as one does on which the user
 * has no right to it, is unknown, and asked again like one that lacks SPUBLISH. While all others
 * know SPUBLISH, the result stays as it was. Until every master has answered, those that have
 * answered decide. A wrong result loses messages and nothing else: a script goes on when its
 * publishing fails.
 *
 * <p><b>Threads.</b> Any thread may call every method. {@code lock} guards the answers; {@code
 * sharded} is replaced under it, and read without it.
 */
final class ChannelSharding {
  private static final Logger LOG = LoggerFactory.getLogger(ChannelSharding.class);

  /** The time after which a master is asked again that lacks SPUBLISH or did not answer. */
  static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** How long a master may take to answer; at the first question longer, if there is time. */
  private static final long ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private enum Answer {
    KNOWS,
    LACKS,
    NONE
  }

  private final ClusterNodes nodes;
  private final Ticker ticker;
  private final ReentrantLock lock = new ReentrantLock();

  private volatile boolean sharded;
  private volatile boolean known;

  @GuardedBy("lock")
  private final Map<HostAndPort, Answer> answers = new HashMap<>();

  @GuardedBy("lock")
  private long askedNanos;

  ChannelSharding(ClusterNodes nodes, Ticker ticker) {
    this.nodes = nodes;
    this.ticker = ticker;
  }

  /** Returns whether channels have slots; false until the first result. */
  boolean isSharded() {
    return sharded;
  }

  /**
   * Asks the masters, until there is a first result.
   *
   * @throws CommandException if none answers; a refusal if all refuse the question
   */
  void learn(Set<HostAndPort> masters, Deadline deadline) throws CommandException {
    if (known) {
      return;
    }
    lock.lock();
    try {
      answers.clear();
      long shareNanos = deadline.leftNanos() / Math.max(1, masters.size());
      CommandException unanswered = ask(masters, deadline, Math.max(ANSWER_NANOS, shareNanos));
      if (answers.values().stream().allMatch(Answer.NONE::equals)) {
        throw unanswered != null ? unanswered : ClusterQueries.timeOut(nodes);
      }
      sharded = result(true);
      known = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Asks the masters that are new, and now and then those that have not said that they know
   * SPUBLISH. Returns whether the result has changed.
   */
  boolean learnAgain(Set<HostAndPort> masters, Deadline deadline) {
    if (!known || !lock.tryLock()) {
      return false;
    }
    try {
      boolean before = sharded;
      answers.keySet().retainAll(masters);
      if (isDue(masters)) {
        CommandException unanswered = ask(masters, deadline, ANSWER_NANOS);
        LOG.debug("asked the masters of the {} for sharded channels", nodes, unanswered);
      }
      sharded = result(before);
      return sharded != before;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean isDue(Set<HostAndPort> masters) {
    return !answers.keySet().containsAll(masters)
        || (answers.values().stream().anyMatch(answer -> answer != Answer.KNOWS)
            && ticker.read() - askedNanos >= REPEAT_NANOS);
  }

  /**
   * Asks all masters that have not said that they know SPUBLISH. Returns the last failure, if
   * possible one that is transient; null when all have answered, or the time is over.
   *
   * @param shareNanos how long one of them may take, so that a silent one leaves time for the
   *     others
   */
  @GuardedBy("lock")
  private @Nullable CommandException ask(
      Set<HostAndPort> masters, Deadline deadline, long shareNanos) {
    askedNanos = ticker.read();
    answers.values().removeIf(answer -> answer != Answer.KNOWS);
    masters.forEach(master -> answers.putIfAbsent(master, Answer.NONE));
    CommandException unanswered = null;
    for (HostAndPort master : masters) {
      if (answers.get(master) == Answer.NONE && !deadline.hasPassed()) {
        try {
          Deadline share = deadline.within(shareNanos);
          boolean knows = new ClusterQueries(nodes.at(master), share).knowsSharding();
          answers.put(master, knows ? Answer.KNOWS : Answer.LACKS);
        } catch (CommandException fault) {
          if (unanswered == null || fault.kind().isTransient()) {
            unanswered = fault;
          }
        }
      }
    }
    return unanswered;
  }

  /** Returns what the answers say, or the given result while they do not say it. */
  @GuardedBy("lock")
  private boolean result(boolean otherwise) {
    return !answers.containsValue(Answer.LACKS)
        && (otherwise || !answers.containsValue(Answer.NONE));
  }
}
