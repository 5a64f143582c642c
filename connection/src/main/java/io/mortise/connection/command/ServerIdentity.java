package io.mortise.connection.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.connection.pool.CommandException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The random id that a server gives itself at its start: what two addresses of one server have in
 * common. It is asked once, so of a server that has restarted it may be the former one: two clients
 * that asked at different times may miss that they have one server.
 */
public final class ServerIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(ServerIdentity.class);
  private static final Pattern RUN_ID = Pattern.compile("(?m)^run_id:(\\S+)");

  private volatile Optional<String> known = Optional.empty();

  /** Whether the server has answered, or refused to. */
  private volatile boolean asked;

  /** The id; empty when the server does not tell, or does not answer now. */
  public Optional<String> get(ScriptExecutor commands) {
    if (!asked) {
      try {
        known = find(commands.serverInfo());
        asked = true;
      } catch (CommandException fault) {
        LOG.debug("the server does not say which it is", fault);
        asked = !fault.kind().isTransient();
      }
    }
    return known;
  }

  private static Optional<String> find(Object info) {
    Matcher line = RUN_ID.matcher(info instanceof byte[] text ? new String(text, UTF_8) : "");
    return line.find() ? Optional.of(line.group(1)) : Optional.empty();
  }
}
