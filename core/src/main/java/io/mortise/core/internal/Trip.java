package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.internal.ConnectionSource.Loan;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Scripts on one connection: all are sent, then the answers are read in the same order.
 *
 * <p>The connection belongs to the one on the trip until it is given back. What breaks it, a
 * time-out too, is a fault for all whose answers have not been read; an error that is the answer to
 * one is that one's. Whoever cannot connect says so to all who wait: they would only try the same.
 */
final class Trip implements Trips.Way {
  private final RedisNode node;

  private Trip(RedisNode node) {
    this.node = node;
  }

  /** Those to that server. */
  static Trips to(RedisNode node) {
    return new Trips(node.toString(), Trips.ALONE, Trips.TOGETHER, new Trip(node));
  }

  /** Runs a script: by its name, and by its text when the server does not know it. */
  static Reply run(Trips trips, ScriptExchange script, long deadlineNanos) throws Fault {
    try {
      return trips.ride(new Passenger(script.bySha1(), deadlineNanos));
    } catch (Fault fault) {
      if (fault.getCause() instanceof JedisNoScriptException) {
        return trips.ride(new Passenger(script.byText(), deadlineNanos));
      }
      throw fault;
    }
  }

  @Override
  public void go(Passenger first, Supplier<List<Passenger>> others) throws Fault {
    Loan loan;
    try {
      loan = node.borrow(first.deadlineNanos());
    } catch (Fault fault) {
      if (fault.reason() != Reason.NO_CONNECTION_FREE) { // that may be an interrupt
        others.get().forEach(each -> each.fail(fault));
      }
      throw fault;
    }
    List<Passenger> aboard = new ArrayList<>();
    boolean reusable = false;
    try {
      aboard.add(first);
      aboard.addAll(others.get());
      reusable = node.onThread(() -> talk(loan.connection(), aboard, first.deadlineNanos()));
    } finally {
      failRest(aboard, () -> new Fault(Reason.SCRIPT, true, "the answer could not be read", null));
      loan.giveBack(reusable);
    }
  }

  /** Gives each its answer; whether the connection can be used again. */
  private boolean talk(Connection connection, List<Passenger> aboard, long deadlineNanos) {
    try {
      int before = connection.getSoTimeout();
      connection.setSoTimeout(RedisNode.millisUntil(deadlineNanos));
      for (Passenger each : aboard) {
        connection.sendCommand(each.command());
      }
      for (Passenger each : aboard) {
        connection.setSoTimeout(RedisNode.millisUntil(deadlineNanos));
        answer(connection, each);
      }
      connection.setSoTimeout(before);
      return !connection.isBroken();
    } catch (RuntimeException e) {
      failRest(aboard, () -> node.fault(e, connection));
      return false;
    }
  }

  private static void failRest(List<Passenger> aboard, Supplier<Fault> fault) {
    for (Passenger each : aboard) {
      if (!each.isAnswered()) {
        each.fail(fault.get());
      }
    }
  }

  private void answer(Connection connection, Passenger passenger) {
    try {
      Object value = connection.getOne();
      passenger.answer(new Reply(value, null, RedisNode.lifeOf(connection)));
    } catch (JedisDataException e) {
      passenger.fail(node.fault(e, connection));
    }
  }
}
