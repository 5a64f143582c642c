package io.mortise.core.internal.acquire;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets other clients go first after a release that they have heard. Whoever releases knows of it
 * before everybody else, and would win each round: its next attempt is on its way when the message
 * reaches the others. So that attempt waits a moment.
 *
 * <p><b>Each of them has its turn.</b> The first to be told of a release tends to be the first to
 * ask, and two who are told early could pass the lock to and fro while a third waits. So who had it
 * waits that moment after the releases of others too, until as many have been heard as there were
 * others to hear its own; but only a few, because those that linger are among them.
 *
 * <p>Who has heard need not want the lock: subscriptions linger. When nobody takes it in that
 * moment, the next one is shorter, down to the least that gives a newcomer its chance; as soon as
 * somebody does, it is the longest again.
 *
 * <p>Used by all threads; entries are replaced as a whole. A name that nobody asks for again leaves
 * its entry behind, until there are too many.
 */
public final class ReleaseFairness {
  private static final long MOST_NANOS = 1_000_000L;
  private static final long LEAST_NANOS = 50_000L;
  private static final int OWN_MESSAGE = 1;

  /** How many of others may have their turn before this client, if as many have heard. */
  static final int MOST_TURNS = 4;

  private static final int MANY = 64;
  private static final long FORGOTTEN_NANOS = 10_000_000_000L;

  private final long mostNanos;

  /** By the name of the lock: of one family, the one whose holds pass on. */
  private final Map<LockName, Pause> pauses = new ConcurrentHashMap<>();

  /** When what is over was last looked for. */
  private final AtomicLong sweptNanos = new AtomicLong(System.nanoTime());

  public ReleaseFairness() {
    this(MOST_NANOS);
  }

  /** Of moments that are at first so long. */
  public ReleaseFairness(long mostNanos) {
    this.mostNanos = mostNanos;
  }

  /**
   * The moment after a release.
   *
   * @param untilNanos when it is over
   * @param nanos how long it was
   * @param released the generation of the channel's signal before the release; with a smaller one
   *     the channel is another, and tells nothing of what came since
   * @param turn the one from which on it is this client's turn
   */
  private record Pause(long untilNanos, long nanos, long released, long turn) {
    private boolean isOthersTurn(long generation) {
      return generation >= released && generation < turn;
    }
  }

  /**
   * The lock was released.
   *
   * @param heard how many of others have heard it
   * @param generation of the channel's signal, before
   */
  void onReleased(LockProtocol lock, long heard, long generation, long nowNanos) {
    if (heard <= 0) {
      if (!pauses.isEmpty()) {
        pauses.remove(lock.name());
      }
      return;
    }
    sweep(nowNanos);
    pauses.compute(
        lock.name(),
        (name, before) -> {
          long nanos = before == null ? mostNanos : before.nanos();
          long turn = generation + OWN_MESSAGE + Math.min(heard, MOST_TURNS);
          return new Pause(nowNanos + nanos, nanos, generation, turn);
        });
  }

  private void sweep(long nowNanos) {
    long last = sweptNanos.get();
    if (pauses.size() > MANY
        && nowNanos - last > FORGOTTEN_NANOS
        && sweptNanos.compareAndSet(last, nowNanos)) {
      pauses.values().removeIf(pause -> nowNanos - pause.untilNanos() > FORGOTTEN_NANOS);
    }
  }

  /** Who waits has heard of a release, by now of so many. */
  void onReleaseHeard(LockProtocol lock, long generation, long nowNanos) {
    if (!pauses.isEmpty()) {
      pauses.computeIfPresent(
          lock.name(),
          (name, pause) ->
              new Pause(
                  pause.isOthersTurn(generation) ? nowNanos + pause.nanos() : nowNanos,
                  pause.nanos(),
                  pause.released(),
                  pause.turn()));
    }
  }

  /** For how long an attempt should wait; 0 when it need not. */
  long pauseNanos(LockProtocol lock, long nowNanos) {
    if (pauses.isEmpty()) {
      return 0;
    }
    Pause pause = pauses.get(lock.name());
    return pause == null ? 0 : Math.max(0, pause.untilNanos() - nowNanos);
  }

  /** An attempt that has waited was granted, or was not. */
  void onAttempt(LockProtocol lock, boolean granted) {
    pauses.computeIfPresent(
        lock.name(),
        (name, pause) ->
            new Pause(
                pause.untilNanos(),
                granted ? Math.max(LEAST_NANOS, pause.nanos() / 2) : mostNanos,
                pause.released(),
                pause.turn()));
  }
}
