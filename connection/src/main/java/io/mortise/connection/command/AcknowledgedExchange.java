package io.mortise.connection.command;

import io.mortise.connection.command.ReplicaAcknowledgement.AcknowledgementFailure;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.PartlyExecutedException;
import io.mortise.connection.pool.UnansweredUndoException;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * An attempt that counts only when it is acknowledged. Otherwise it is undone, on the same
 * connection, and the answer is the {@link AcknowledgementFailure}. If the server refuses one of
 * these commands, as a master without enough replicas does, the grant may have stayed: {@link
 * PartlyExecutedException}. If what undoes it has no answer: {@link UnansweredUndoException}.
 *
 * @param granted tests whether an answer is a grant
 * @param undo supplies the exchanges that undo the grant
 */
record AcknowledgedExchange(
    Exchange attempt,
    Predicate<Object> granted,
    ReplicaAcknowledgement acknowledgement,
    Supplier<List<Exchange>> undo)
    implements Exchange {

  @Override
  public int bytes() {
    return attempt.bytes();
  }

  @Override
  public Exchange asking() {
    return new AcknowledgedExchange(
        attempt.asking(),
        granted,
        acknowledgement,
        () -> undo.get().stream().map(Exchange::asking).toList());
  }

  @Override
  public Object on(Connection connection, Deadline deadline) {
    Object answer = attempt.on(connection, deadline);
    if (!granted.test(answer)) {
      return answer;
    }
    try {
      AcknowledgementFailure failure = acknowledgement.await(connection, deadline);
      if (failure == null) {
        return answer;
      }
      undo(connection, deadline, failure);
      return failure;
    } catch (JedisDataException refusal) { // the grant is there, and has to be released
      throw new PartlyExecutedException(refusal);
    }
  }

  private void undo(Connection connection, Deadline deadline, AcknowledgementFailure why) {
    for (Exchange call : undo.get()) {
      try {
        connection.setSoTimeout(deadline.leftMillis());
        call.on(connection, deadline);
      } catch (JedisConnectionException unanswered) {
        throw new UnansweredUndoException(why.message(), unanswered);
      }
    }
  }
}
