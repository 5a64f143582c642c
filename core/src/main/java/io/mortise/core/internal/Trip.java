package io.mortise.core.internal;

import io.mortise.core.internal.ConnectionSource.Loan;
import io.mortise.core.internal.Fault.Kind;
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
  private final Lender node;

  /** The server, for those who go to it. */
  interface Lender {
    /** Lends a connection until the deadline. */
    Loan borrow(long deadlineNanos) throws Fault;

    /** On this thread, or on one that may use a socket. */
    <T> T onThread(Supplier<T> talk);

    /** What an exception on that connection means; what was sent may have run. */
    Fault fault(RuntimeException thrown, Connection connection);
  }

  private Trip(Lender node) {
    this.node = node;
  }

  /** Those to that server. */
  static Trips to(Lender node) {
    return to(node, TripLimits.USUAL);
  }

  static Trips to(Lender node, TripLimits limits) {
    return new Trips(node.toString(), limits, new Trip(node));
  }

  /** Runs a script: by its name, and by its text when the server does not know it. */
  static Reply run(Trips trips, CombinableExchange script, long deadlineNanos) throws Fault {
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
  public void go(Passenger first, Supplier<List<Passenger>> others) throws Fault {
    List<Passenger> aboard = new ArrayList<>();
    boolean reusable = false;
    Loan loan = node.borrow(first.deadlineNanos());
    try {
      aboard.add(first);
      aboard.addAll(others.get());
      reusable = node.onThread(() -> talk(loan.connection(), aboard));
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
    return new Fault(Kind.UNREACHABLE, true, "the answer could not be read", null);
  }

  /** Gives each its answer; whether the connection can be used again. */
  private boolean talk(Connection connection, List<Passenger> aboard) {
    long deadlineNanos = aboard.get(0).deadlineNanos();
    try {
      int before = connection.getSoTimeout();
      connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
      for (Passenger each : aboard) {
        connection.sendCommand(each.command());
      }
      boolean master = true;
      for (Passenger each : aboard) {
        connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
        master &= answer(connection, each);
      }
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
      passenger.answer(new Reply(value, null, Wire.lifeOf(connection)));
      return true;
    } catch (JedisDataException e) {
      Fault fault = node.fault(e, connection);
      passenger.fail(fault);
      return fault.kind() != Kind.READ_ONLY;
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
