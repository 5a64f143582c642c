package io.mortise.schedules;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.schedules.Section.Losses;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** A fault strikes at any moment. A holder that loses its hold is notified, and nothing is left. */
class FaultsTest {
  private static final Duration WITHIN = Duration.ofSeconds(60);

  /** Without hand-offs: a release that asks Redis learns of every loss. */
  private static final LockOptions OPTIONS =
      LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ZERO)).build();

  /** Locks and visits, unless the client is closed meanwhile. */
  private static void visit(World world, Section section, int side) throws Exception {
    DistributedLock lock = world.lock(side);
    try {
      lock.lock();
    } catch (LockException e) {
      if (!world.side(side).get(0).isClosed()) {
        throw e;
      }
      return;
    }
    section.visit(lock, false, Thread::yield);
  }

  private static void explore(LockKind kind, Losses losses, Fault fault) throws Exception {
    World.explore(
        kind,
        OPTIONS,
        losses,
        (world, section) -> {
          world.start("side 0", () -> visit(world, section, 0));
          world.start("side 0 too", () -> visit(world, section, 0));
          world.start("side 1", () -> visit(world, section, 1));
          world.start("fault", () -> fault.strike(world));
          world.join(WITHIN);
        });
  }

  private interface Fault {
    void strike(World world) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void aReplyIsLost(LockKind kind) throws Exception {
    explore(kind, Losses.NONE, world -> world.redis().loseNextReply());
  }

  @ParameterizedTest
  @EnumSource
  void aRequestIsLost(LockKind kind) throws Exception {
    explore(kind, Losses.NONE, world -> world.redis().loseNextRequest());
  }

  @ParameterizedTest
  @EnumSource
  void allConnectionsBreak(LockKind kind) throws Exception {
    explore(kind, Losses.NONE, world -> world.servers.forEach(InMemoryRedis::breakConnections));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "ANY_SEGMENT") // a segment is forced, and not any
  void aHoldIsForcedOut(LockKind kind) throws Exception {
    explore(kind, Losses.REPORTED, world -> world.lock(1).forceUnlock());
  }

  /**
   * The servers forget one after the other. A quorum that was granted in between may have lost a
   * node already, and the larger token: nothing is promised when a majority loses its data.
   */
  @ParameterizedTest
  @EnumSource
  void allServersForgetTheirData(LockKind kind) throws Exception {
    explore(
        kind,
        kind == LockKind.RED ? Losses.SOME_UNREPORTED : Losses.REPORTED,
        world -> world.servers.forEach(server -> server.command("FLUSHALL")));
  }

  /** A release in doubt is not reported on the connections of a Jedis client, as used in memory. */
  @ParameterizedTest
  @EnumSource
  void allServersRestartWithoutTheirData(LockKind kind) throws Exception {
    explore(
        kind, Losses.SOME_UNREPORTED, world -> world.servers.forEach(InMemoryRedis::restartEmpty));
  }

  @ParameterizedTest
  @EnumSource
  void aClientIsClosed(LockKind kind) throws Exception {
    explore(kind, Losses.REPORTED, world -> world.side(0).forEach(LockClient::close));
  }

  /** The holder sleeps until its lease is over at about the moment of its unlock. */
  @ParameterizedTest
  @EnumSource
  void aLeaseEndsBeforeTheUnlock(LockKind kind) throws Exception {
    World.explore(
        kind,
        OPTIONS,
        Losses.REPORTED,
        (world, section) -> {
          world.start(
              "sleeper",
              () -> {
                DistributedLock lock = world.lock(0);
                lock.withLease(Duration.ofMillis(100)).lock();
                section.visit(lock, false, () -> Thread.sleep(97));
              });
          world.start("side 0", () -> visit(world, section, 0));
          world.start("side 1", () -> visit(world, section, 1));
          world.join(WITHIN);
        });
  }

  /** A re-entry lengthens the hold, and the reply to that is lost. */
  @ParameterizedTest
  @EnumSource
  void theReplyToALongerLeaseIsLost(LockKind kind) throws Exception {
    World.explore(
        kind,
        OPTIONS,
        Losses.REPORTED,
        (world, section) -> {
          world.start(
              "side 0",
              () -> {
                DistributedLock lock = world.lock(0);
                lock.withLease(Duration.ofSeconds(5)).lock();
                section.visit(
                    lock,
                    false,
                    () -> {
                      try {
                        lock.withLease(Duration.ofHours(1)).lock();
                        lock.unlock();
                      } catch (LeaseLostException lost) {
                        // the unlock of the section reports it
                      } catch (LockException e) { // of a lost reply and a late one
                        if (kind != LockKind.RED || !e.reason().isTransient()) {
                          throw e;
                        }
                      }
                    });
              });
          world.start("side 1", () -> visit(world, section, 1));
          world.start("fault", () -> world.redis().loseNextReply());
          world.join(WITHIN);
        });
  }
}
