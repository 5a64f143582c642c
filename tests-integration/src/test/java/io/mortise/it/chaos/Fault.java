package io.mortise.it.chaos;

import static io.mortise.it.chaos.Fault.Target.CLIENT;
import static io.mortise.it.chaos.Fault.Target.NONE;
import static io.mortise.it.chaos.Fault.Target.SERVER;
import static io.mortise.it.chaos.ThinkTime.QUICK;
import static io.mortise.it.chaos.ThinkTime.SLOW;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * A fault of a client process, of a server, or of the network between them: how it begins and ends,
 * and how long it lasts, in percent of the lease.
 */
enum Fault {
  /** No fault, only holders that stop for a while by themselves, as under all others too. */
  CALM(NONE, QUICK, 100, 100, Action.NOTHING, Action.NOTHING),

  // ---- no acknowledged data is lost: no two holds may overlap

  /** SIGSTOP of a client process, past the lease. */
  CLIENT_PAUSED(
      CLIENT,
      SLOW,
      110,
      160,
      (at, event, i) -> at.clients().pause(i),
      (at, event, i) -> at.clients().resume(i)),
  /** {@code kill -9} of a client process; another one replaces it. */
  CLIENT_KILLED(
      CLIENT,
      QUICK,
      10,
      80,
      (at, event, i) -> at.clients().kill(i),
      (at, event, i) -> at.clients().replace(i)),
  /** SIGSTOP of servers, past the lease; then they answer the requests that came meanwhile. */
  SERVER_PAUSED(
      SERVER,
      SLOW,
      110,
      160,
      (at, event, i) -> at.server(i).pause(),
      (at, event, i) -> at.server(i).resume()),
  /** {@code kill -9} of servers, which come back with all that they had acknowledged. */
  SERVER_KILLED(
      SERVER,
      QUICK,
      5,
      130,
      (at, event, i) -> at.server(i).kill(),
      (at, event, i) -> at.server(i).restart()),
  /** Each message is late, in both directions. */
  DELAYED(
      SERVER,
      QUICK,
      30,
      70,
      (at, event, i) -> at.proxy(i).delay(Duration.ofMillis(5 + event.variant() % 100)),
      Action.RESTORE_NETWORK),
  /** All connections break, and new ones too. */
  CUT(SERVER, QUICK, 10, 130, (at, event, i) -> at.proxy(i).cut(), Action.RESTORE_NETWORK),
  /** One direction only: requests vanish. */
  REQUESTS_LOST(
      SERVER,
      QUICK,
      30,
      130,
      (at, event, i) -> at.proxy(i).swallow(Direction.TO_SERVER),
      Action.RESTORE_NETWORK),
  /** One direction only: requests are executed, and no reply arrives. */
  REPLIES_LOST(
      SERVER,
      QUICK,
      30,
      130,
      (at, event, i) -> at.proxy(i).swallow(Direction.TO_CLIENT),
      Action.RESTORE_NETWORK),
  /** Exactly one script runs without its reply: by silence, or by a broken connection. */
  ONE_REPLY_LOST(
      SERVER,
      QUICK,
      10,
      20,
      (at, event, i) ->
          at.proxy(i)
              .loseNextReply(
                  event.variant() % 2 == 0 ? LossStyle.SILENT : LossStyle.CLOSE,
                  FaultProxy.containing("EVAL")),
      Action.RESTORE_NETWORK),
  /** SCRIPT FLUSH. */
  SCRIPTS_FLUSHED(
      SERVER,
      QUICK,
      1,
      10,
      (at, event, i) -> at.server(i).command("SCRIPT", "FLUSH"),
      Action.NOTHING),
  /** CLIENT KILL TYPE pubsub: all subscriptions break. */
  SUBSCRIBERS_KILLED(
      SERVER,
      QUICK,
      5,
      20,
      (at, event, i) -> at.server(i).command("CLIENT", "KILL", "TYPE", "pubsub"),
      Action.NOTHING),

  // ---- data is lost: holds may overlap, but the loser is notified

  /** The server comes back without its data. */
  RESTARTED_EMPTY(
      SERVER, SLOW, 20, 60, (at, event, i) -> at.server(i).restartEmpty(), Action.NOTHING),
  /** FLUSHALL. */
  FLUSHED(
      SERVER, SLOW, 20, 60, (at, event, i) -> at.server(i).command("FLUSHALL"), Action.NOTHING),
  /**
   * All keys that expire, except the tokens, expire now: this is what a lock sees when the clock of
   * a server is set forward by more than the lease.
   */
  EXPIRED_EARLY(
      SERVER,
      SLOW,
      20,
      60,
      (at, event, i) -> at.server(i).command("EVAL", Action.EXPIRE_ALL, "0"),
      Action.NOTHING),
  /** A replica that has missed the last writes becomes the master. */
  PROMOTED(
      SERVER,
      SLOW,
      100,
      100,
      (at, event, i) -> at.servers().promoteLaggingReplica(),
      Action.NOTHING);

  /** What a fault happens to. */
  enum Target {
    NONE,
    CLIENT,
    SERVER
  }

  /** The begin or the end of a fault at one of the targets of an event. */
  @FunctionalInterface
  private interface Action {
    Action NOTHING = (at, event, index) -> {};
    Action RESTORE_NETWORK = (at, event, index) -> at.proxy(index).restore();

    String EXPIRE_ALL =
        """
        for _, key in ipairs(redis.call('KEYS', '*')) do
          if redis.call('PTTL', key) > 0 and not string.find(key, 'redisson_lock_token', 1, true) then
            redis.call('PEXPIRE', key, 1)
          end
        end
        """;

    void apply(FaultContext at, FaultEvent event, int index) throws InterruptedException;
  }

  private static final Set<Fault> LOSING_DATA =
      EnumSet.of(RESTARTED_EMPTY, FLUSHED, EXPIRED_EARLY, PROMOTED);

  private final Target target;
  private final ThinkTime thinkTime;
  private final int minPercent;
  private final int maxPercent;
  private final Action begin;
  private final Action end;

  Fault(
      Target target,
      ThinkTime thinkTime,
      int minPercent,
      int maxPercent,
      Action begin,
      Action end) {
    this.target = target;
    this.thinkTime = thinkTime;
    this.minPercent = minPercent;
    this.maxPercent = maxPercent;
    this.begin = begin;
    this.end = end;
  }

  /** Begins at one target of the event. */
  void begin(FaultContext context, FaultEvent event, int index) throws InterruptedException {
    begin.apply(context, event, index);
  }

  /** Ends at one target of the event. */
  void end(FaultContext context, FaultEvent event, int index) throws InterruptedException {
    end.apply(context, event, index);
  }

  Target target() {
    return target;
  }

  ThinkTime thinkTime() {
    return thinkTime;
  }

  int minPercent() {
    return minPercent;
  }

  int maxPercent() {
    return maxPercent;
  }

  /** Returns whether a server loses data that it has acknowledged. */
  boolean losesData() {
    return LOSING_DATA.contains(this);
  }

  /** Returns whether the fault is possible there. */
  boolean appliesTo(ServerTopology topology) {
    return switch (topology) {
      case STANDALONE -> this != PROMOTED;
      // No proxy is in between. A master that is down or paused is replaced: that is PROMOTED. Its
      // replica has no disk.
      case SENTINEL ->
          end != Action.RESTORE_NETWORK
              && this != SERVER_PAUSED
              && this != SERVER_KILLED
              && this != RESTARTED_EMPTY;
    };
  }
}
