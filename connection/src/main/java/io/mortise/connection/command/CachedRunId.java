package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The run id of a server ({@code run_id} in INFO): the random id that it gives itself at its start.
 * Two addresses of one server have the same. It is queried once, so the id may be that from before
 * a restart: two clients that queried at different times may miss that they have one server.
 *
 * <p><b>Threads.</b> Any thread may call {@code get}; several may query at the same time. The id is
 * written before {@code queried}, so a thread that sees {@code queried} sees the id.
 */
public final class CachedRunId {
  private static final Logger LOG = LoggerFactory.getLogger(CachedRunId.class);

  private volatile Optional<String> id = Optional.empty();

  /** Whether the server has answered, or has refused for good. */
  private volatile boolean queried;

  /**
   * Returns the id; empty when the server refuses, or does not answer now.
   *
   * @param withinNanos how long to wait for the answer, at most the command timeout; 0 sends
   *     nothing
   */
  public Optional<String> get(ScriptExecutor executor, long withinNanos) {
    if (!queried && withinNanos > 0) {
      try {
        id = executor.serverInfo(withinNanos).runId();
        queried = true;
      } catch (CommandException fault) {
        LOG.debug("the run id of the server is not known", fault);
        queried = !fault.kind().isTransient();
      }
    }
    return id;
  }
}
