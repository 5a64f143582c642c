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
 * one is that one's. Nobody is aboard before there is a connection.
 */
final class Trip implements Trips.Way {
  private final RedisNode node;
  private final Distance distance;
  private final Glance glance;

  Trip(RedisNode node, Distance distance, Glance glance) {
    this.node = node;
    this.distance = distance;
    this.glance = glance;
  }

  /** Those to that server. */
  static Trips to(RedisNode node) {
    Distance distance = new Distance();
    // Two glances: one sees a server's answer, the other also that somebody else's trip has ended.
    return new Trips(
        node.toString(),
        TripLimits.USUAL,
        distance,
        new Glance(),
        new Trip(node, distance, new Glance()));
  }

  /** Runs a script: by its name, and by its text when the server does not know it. */
  static Reply run(Trips trips, ScriptExchange script, long deadlineNanos) throws Fault {
    try {
      return trips.ride(script.passenger(false, deadlineNanos));
    } catch (Fault fault) {
      if (fault.getCause() instanceof JedisNoScriptException) {
        return trips.ride(script.passenger(true, deadlineNanos));
      }
      throw fault;
    }
  }

  @Override
  public void go(Passenger first, Supplier<List<Passenger>> others, int crowd) throws Fault {
    Loan loan = node.borrow(first.deadlineNanos());
    List<Passenger> aboard = new ArrayList<>();
    boolean reusable = false;
    try {
      aboard.add(first);
      aboard.addAll(others.get());
      reusable = node.onThread(() -> talk(loan.connection(), aboard, crowd));
    } finally {
      try {
        failRest(aboard, Trip::unread);
      } finally {
        loan.giveBack(reusable);
      }
    }
  }

  /** As of a connection that broke: each asks again. */
  private static Fault unread() {
    return new Fault(Reason.UNREACHABLE, true, "the answer could not be read", null);
  }

  /** Gives each its answer; whether the connection can be used again. */
  private boolean talk(Connection connection, List<Passenger> aboard, int crowd) {
    long deadlineNanos = aboard.get(0).deadlineNanos();
    try {
      int before = connection.getSoTimeout();
      connection.setSoTimeout(RedisNode.millisUntil(deadlineNanos));
      long sinceNanos = System.nanoTime();
      for (Passenger each : aboard) {
        connection.sendCommand(each.command());
      }
      if (crowd > 0 && connection instanceof Wire wire && wire.canTell()) {
        wire.push();
        glance.at(wire::hasArrived, crowd);
      }
      boolean master = true;
      for (Passenger each : aboard) {
        connection.setSoTimeout(RedisNode.millisUntil(deadlineNanos));
        master &= answer(connection, each);
      }
      distance.note(System.nanoTime() - sinceNanos, aboard.size());
      connection.setSoTimeout(before);
      return master && !connection.isBroken();
    } catch (RuntimeException e) {
      failRest(aboard, () -> node.fault(e, connection));
      return false;
    }
  }

  /** Gives one its answer; false when the server takes no writes any more. */
  private boolean answer(Connection connection, Passenger passenger) {
    try {
      Object value = connection.getOne();
      passenger.answer(new Reply(value, null, RedisNode.lifeOf(connection)));
      return true;
    } catch (JedisDataException e) {
      Fault fault = node.fault(e, connection);
      passenger.fail(fault);
      return fault.reason() != Reason.READ_ONLY;
    }
  }

  private static void failRest(List<Passenger> aboard, Supplier<Fault> fault) {
    for (Passenger each : aboard) {
      if (!each.isAnswered()) {
        each.fail(fault.get());
      }
    }
  }
}
