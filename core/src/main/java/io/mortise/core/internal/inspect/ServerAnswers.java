package io.mortise.core.internal.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.ServerInfo;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/**
 * The answers of a server to PING, INFO and TIME, each of which may be a refusal.
 *
 * @param ping the answer, or a {@code JedisDataException}
 * @param info empty if the user may not ask
 * @param ownMillis the clock of this process at that moment, epoch ms
 */
record ServerAnswers(Object ping, long pingNanos, ServerInfo info, Object time, long ownMillis) {
  /**
   * Asks on an open connection: the first command may have to read the answers to a greeting. Each
   * answer is read within what is left until the deadline.
   */
  static ServerAnswers ask(
      Connection connection, Deadline deadline, Ticker ticker, InstantSource clock) {
    Object first = one(connection, Command.PING, deadline);
    long before = ticker.read();
    Object ping = one(connection, Command.PING, deadline);
    long pingNanos = ticker.read() - before;
    ServerInfo info = ServerInfo.of(one(connection, Command.INFO, deadline));
    long asked = clock.millis();
    Object time = one(connection, Command.TIME, deadline);
    return new ServerAnswers(
        first instanceof Exception ? first : ping,
        pingNanos,
        info,
        time,
        (asked + clock.millis()) / 2);
  }

  /** Asks one question; a refusal is an answer. */
  private static Object one(Connection connection, Command command, Deadline deadline) {
    connection.sendCommand(new CommandArguments(command));
    connection.setSoTimeout(deadline.leftMillis());
    return connection.getMany(1).get(0);
  }

  /** Returns the clock of the server less that of this process, ms. */
  OptionalLong clockOffsetMillis() {
    if (time instanceof List<?> parts
        && parts.size() == 2
        && parts.get(0) instanceof byte[] seconds
        && parts.get(1) instanceof byte[] micros) {
      return OptionalLong.of(number(seconds) * 1_000 + number(micros) / 1_000 - ownMillis);
    }
    return OptionalLong.empty();
  }

  private static long number(byte[] digits) {
    return Long.parseLong(new String(digits, US_ASCII));
  }
}
