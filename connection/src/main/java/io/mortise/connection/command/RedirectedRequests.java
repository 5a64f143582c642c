package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.topology.Topology;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The requests of one pipeline that a node has redirected. Each is sent again, alone, to the owner
 * of its slot, until one fails in a way that the others would share:
 *
 * <ul>
 *   <li>After a redirection that leads nowhere the others of that slot are not sent. While a slot
 *       moves, each of them would wait until its own time limit.
 *   <li>After a failure without an answer none is sent.
 * </ul>
 *
 * <p>A request that is not sent has the same failure, which says that it was not sent this time.
 *
 * <p><b>Threads.</b> The thread that has sent the pipeline uses it.
 */
final class RedirectedRequests {
  private final Topology topology;
  private final Resender resender;
  private final @Nullable CommandException before;
  private final Map<Integer, CommandException> failuresOfSlots = new HashMap<>();
  private @Nullable CommandException unreachable;

  /** Sends one request again, within the time limit of its pipeline. */
  interface Resender {
    Reply send(ScriptRequest request) throws CommandException;
  }

  /**
   * @param before the failure of an earlier attempt of the whole pipeline; null when there was none
   */
  RedirectedRequests(Topology topology, Resender resender, @Nullable CommandException before) {
    this.topology = topology;
    this.resender = resender;
    this.before = before;
  }

  /**
   * Sends one request again.
   *
   * @param redirection the answer to the request in the pipeline
   * @throws CommandException if it fails, or is not sent because of an earlier failure
   */
  Reply send(ScriptRequest request, Object redirection) throws CommandException {
    CommandException doubt = before == null ? doubtAbout(redirection) : before;
    int slot = request.slot(topology);
    CommandException shared = unreachable != null ? unreachable : failuresOfSlots.get(slot);
    try {
      if (shared != null) {
        throw shared.ofUnsent();
      }
      return resender.send(request).after(doubt);
    } catch (CommandException fault) {
      if (shared == null) {
        note(slot, fault);
      }
      throw fault.afterEarlier(doubt);
    }
  }

  /** Returns the failure of a script that has met a moving key halfway; null for a redirection. */
  private @Nullable CommandException doubtAbout(Object redirection) {
    CommandException refusal =
        ErrorClassifier.of((JedisDataException) redirection, topology.toString(), true);
    return refusal.mayHaveExecuted() ? refusal : null;
  }

  private void note(int slot, CommandException fault) {
    Throwable cause = fault.getCause();
    if (!fault.isServerReply()) {
      unreachable = fault;
    } else if (cause != null && topology.isRedirect(cause)) {
      failuresOfSlots.put(slot, fault);
    }
  }
}
