package io.mortise.it.chaos;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.chaos.CurrentTask.Task;
import io.mortise.testkit.HoldLog;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A thread of a client process: it enters the section by one of its sides, writes what that guards,
 * stays for a while, writes again, and leaves. It writes whether its lease is valid or not: what a
 * program does that does not look is what is to be seen.
 *
 * <p><b>What it records is true.</b> A hold begins when the lock has been granted. Its end is the
 * time before the lease was asked whether it is valid, if it said so; otherwise the time of the
 * loss, as the lease tells it. So a thread that was suspended in between ends its hold with its
 * lease, and not when it goes on. Who comes late, to find its lease lost already, has had no hold,
 * but writes all the same.
 */
final class Worker {
  /** By how much a stall outlasts the lease. */
  private static final long BEYOND_NANOS = 300_000_000;

  private static final long BREATH_NANOS = 3_000_000;

  private final String name;
  private final List<LockClient> clients;
  private final Family family;
  private final LockOptions options;
  private final WriteLog ledger;
  private final HoldLog log;
  private final HoldObserver witness;
  private final Random random;
  private long entries;

  Worker(
      String name,
      Family family,
      List<LockClient> clients,
      WriteLog ledger,
      HoldLog log,
      HoldObserver witness,
      Random random) {
    this.name = name;
    this.family = family;
    this.clients = clients;
    this.options = clients.get(0).options();
    this.ledger = ledger;
    this.log = log;
    this.witness = witness;
    this.random = random;
  }

  void work(CurrentTask board) throws InterruptedException {
    for (Optional<Task> task = board.next(); task.isPresent(); task = board.next()) {
      try {
        cycle(board, task.get());
      } finally {
        board.done();
      }
      board.linger(random.nextLong(BREATH_NANOS));
    }
  }

  private void cycle(CurrentTask board, Task task) throws InterruptedException {
    List<SectionEntry> sides = family.sides(clients, task.name());
    SectionEntry side = sides.get(random.nextInt(sides.size()));
    long askedNanos = System.nanoTime();
    try {
      Optional<EnteredHold> entry = EnteredHold.attempt(side.lock(), options.lease(), random);
      if (entry.isPresent()) {
        inside(board, task.pace(), side, entry.get(), askedNanos);
      }
    } catch (LockException e) {
      board.linger(random.nextLong(10 * BREATH_NANOS)); // a fault outlasted the wait
    }
  }

  private void inside(
      CurrentTask board, ThinkTime pace, SectionEntry side, EnteredHold entry, long askedNanos)
      throws InterruptedException {
    String holder = name + "#" + ++entries;
    long token = entry.lease().fencingToken();
    witness.granted(holder, side, token, notBefore(entry, askedNanos), System.nanoTime());
    List<HoldLog.Hold> holds =
        entry.lease().isValid()
            ? side.resources().stream()
                .map(resource -> log.acquired(resource, holder, token, side.mode()))
                .toList()
            : List.of();
    entry
        .lease()
        .onLost(
            loss -> {
              witness.told(holder, loss);
              holds.forEach(hold -> hold.lost(loss.atNanos()));
            });
    try {
      write(side, token);
      if (!entry.renewed() && pace.stalls(random)) {
        board.linger(options.lease().toNanos() + BEYOND_NANOS);
      } else {
        board.linger(pace.section(random, options.lease()).toNanos());
      }
      write(side, token);
    } finally {
      leave(entry, holder, holds);
    }
  }

  /**
   * A time before the request that granted the lock: the lease counts from there. Later than the
   * call by all the time that was spent waiting.
   */
  private long notBefore(EnteredHold entry, long askedNanos) {
    long leftNanos = entry.lease().remaining().toNanos();
    if (leftNanos == 0) {
      return askedNanos;
    }
    long leaseNanos = options.lease().toNanos();
    long margin = (long) (leaseNanos * options.clockDrift()) + 2_000_000;
    return Math.max(askedNanos, System.nanoTime() + leftNanos - leaseNanos + margin);
  }

  private void write(SectionEntry side, long token) {
    for (String resource : side.resources()) {
      ledger.write(resource, token);
      ledger.writeGuarded(resource, token);
    }
  }

  private void leave(EnteredHold entry, String holder, List<HoldLog.Hold> holds) {
    long lastNanos = System.nanoTime();
    if (entry.lease().isValid()) {
      holds.forEach(hold -> hold.lost(lastNanos)); // it was still valid then: its true end
    }
    try {
      entry.leave().run();
      witness.released(holder);
    } catch (LeaseLostException e) {
      witness.told(holder, e.loss());
      holds.forEach(hold -> hold.lost(e.loss().atNanos()));
    } catch (LockException e) {
      witness.unconfirmed(holder);
    }
  }
}
