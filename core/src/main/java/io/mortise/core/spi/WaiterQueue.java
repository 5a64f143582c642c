package io.mortise.core.spi;

import static io.mortise.scripts.ScriptCall.bytes;

import com.google.common.collect.Lists;
import io.mortise.core.spi.QueueingProtocol.Heartbeat;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The queue of a lock's waiters in Redis, in Redisson's layout: its keys, its query, the heartbeat
 * by which a waiter keeps its place, and the reply to an attempt that may join it.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public final class WaiterQueue {
  private static final Script QUERY = Script.load("fair/queue");
  private static final byte[] DOES_NOT_WAIT = bytes(0);

  /** A script of all waiters of a client would hold up the server, and so all other clients. */
  private static final int MAX_WAITERS = 200;

  /** The answer of PTTL for a key that does not end. */
  private static final long NO_END = -1;

  private final byte[] key;
  private final byte[] deadlinesKey;
  private final byte[] heartbeatValidityMillis;
  private final long heartbeatIntervalMillis;

  /** Derives the keys of the lock's queue; sends nothing. */
  public WaiterQueue(LockName name, WaiterTimeout timeout) {
    this.key = bytes(name.derive("redisson_lock_queue"));
    this.deadlinesKey = bytes(name.derive("redisson_lock_timeout"));
    this.heartbeatValidityMillis = bytes(timeout.heartbeatValidityMillis());
    this.heartbeatIntervalMillis = timeout.heartbeatIntervalMillis();
  }

  /** Returns the key of the list of holders in order of arrival. */
  public byte[] key() {
    return key;
  }

  /** Returns the key of the sorted set with each waiter's deadline. */
  public byte[] deadlinesKey() {
    return deadlinesKey;
  }

  /** Returns the argument for how long a heartbeat is valid. */
  public byte[] heartbeatValidityMillis() {
    return heartbeatValidityMillis;
  }

  /** As {@link #heartbeatValidityMillis()}, but 0 for an attempt that does not wait. */
  public byte[] heartbeatValidityMillis(boolean waits) {
    return waits ? heartbeatValidityMillis : DOES_NOT_WAIT;
  }

  /** Returns the heartbeat that this call sends. */
  public Heartbeat heartbeat(ScriptCall item) {
    return new Heartbeat(item, heartbeatIntervalMillis);
  }

  /**
   * Returns the number of waiters, by one query.
   *
   * @param ask sends a query and returns its reply
   */
  public long length(Function<ScriptCall, Object> ask) {
    return lengthAndPosition(List.of(), ask).get(0);
  }

  /**
   * Returns the position of the first of these waiters, counted from 0; empty if none of them
   * waits. Each {@value #MAX_WAITERS} of them need a query.
   *
   * @param ask sends a query and returns its reply
   */
  public OptionalLong positionOfFirst(List<String> waiters, Function<ScriptCall, Object> ask) {
    return Lists.partition(waiters, MAX_WAITERS).stream()
        .mapToLong(some -> lengthAndPosition(some, ask).get(1))
        .filter(position -> position >= 0)
        .min();
  }

  @SuppressWarnings("unchecked")
  private List<Long> lengthAndPosition(List<String> waiters, Function<ScriptCall, Object> ask) {
    byte[] asked = bytes(String.join(" ", waiters));
    return (List<Long>)
        ask.apply(new ScriptCall(QUERY, List.of(key, deadlinesKey), List.of(asked)));
  }

  /** Reads the reply to an attempt: acquired, busy, or waiting. */
  public static AcquireResult outcome(Object reply) {
    List<?> fields = (List<?>) reply;
    return switch (((Long) fields.get(0)).intValue()) {
      case 1 -> AcquireResult.Acquired.of(fields);
      case 2 -> new AcquireResult.Queued(retryMillis(fields));
      case 3 -> new AcquireResult.Queued(retryMillis(fields), true);
      default -> new AcquireResult.Busy(retryMillis(fields));
    };
  }

  private static OptionalLong retryMillis(List<?> fields) {
    long millis = (Long) fields.get(1);
    return millis == NO_END ? OptionalLong.empty() : OptionalLong.of(millis);
  }
}
