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

/**
 * A fault of a client process, of a server, or of the network between them: how it begins and ends,
 * and how long it lasts, in percent of the lease.
 */
enum Fault {
  /** No fault, only holders that stop for a while by themselves, as under all others too. */
  CALM(NONE, QUICK, 100, 100),

  // ---- no acknowledged data is lost: no two holds may overlap

  /** SIGSTOP of a client process, past the lease. */
  CLIENT_PAUSED(CLIENT, SLOW, 110, 160),
  /** {@code kill -9} of a client process; another one replaces it. */
  CLIENT_KILLED(CLIENT, QUICK, 10, 80),
  /** SIGSTOP of servers, past the lease; then they answer the requests that came meanwhile. */
  SERVER_PAUSED(SERVER, SLOW, 110, 160),
  /** {@code kill -9} of servers, which come back with all that they had acknowledged. */
  SERVER_KILLED(SERVER, QUICK, 5, 130),
  /** Each message is late, in both directions. */
  DELAYED(SERVER, QUICK, 30, 70),
  /** All connections break, and new ones too. */
  CUT(SERVER, QUICK, 10, 130),
  /** One direction only: requests vanish. */
  REQUESTS_LOST(SERVER, QUICK, 30, 130),
  /** One direction only: requests are executed, and no reply arrives. */
  REPLIES_LOST(SERVER, QUICK, 30, 130),
  /** Exactly one script runs without its reply: by silence, or by a broken connection. */
  ONE_REPLY_LOST(SERVER, QUICK, 10, 20),
  /** SCRIPT FLUSH. */
  SCRIPTS_FLUSHED(SERVER, QUICK, 1, 10),
  /** CLIENT KILL TYPE pubsub: all subscriptions break. */
  SUBSCRIBERS_KILLED(SERVER, QUICK, 5, 20),

  // ---- data is lost: holds may overlap, but the loser is notified

  /** The server comes back without its data. */
  RESTARTED_EMPTY(SERVER, SLOW, 20, 60),
  /** FLUSHALL. */
  FLUSHED(SERVER, SLOW, 20, 60),
  /**
   * All keys that expire, except the tokens, expire now: this is what a lock sees when the clock of
   * a server is set forward by more than the lease.
   */
  EXPIRED_EARLY(SERVER, SLOW, 20, 60),
  /** A replica that has missed the last writes becomes the master. */
  PROMOTED(SERVER, SLOW, 100, 100);

  private static final String EXPIRE_ALL =
      """
      for _, key in ipairs(redis.call('KEYS', '*')) do
        if redis.call('PTTL', key) > 0 and not string.find(key, 'redisson_lock_token', 1, true) then
          redis.call('PEXPIRE', key, 1)
        end
      end
      """;

  /** What a fault happens to. */
  enum Target {
    NONE,
    CLIENT,
    SERVER
  }

  private final Target target;
  private final ThinkTime thinkTime;
  private final int minPercent;
  private final int maxPercent;

  Fault(Target target, ThinkTime thinkTime, int minPercent, int maxPercent) {
    this.target = target;
    this.thinkTime = thinkTime;
    this.minPercent = minPercent;
    this.maxPercent = maxPercent;
  }

  /** Begins at one target of the event. */
  void begin(FaultContext at, FaultEvent event, int index) throws InterruptedException {
    switch (this) {
      case CALM -> {}
      case CLIENT_PAUSED -> at.clients().process(index).pause();
      case CLIENT_KILLED -> at.clients().process(index).kill();
      case SERVER_PAUSED -> at.server(index).pause();
      case SERVER_KILLED -> at.server(index).kill();
      case DELAYED -> at.proxy(index).delay(Duration.ofMillis(5 + event.variant() % 100));
      case CUT -> at.proxy(index).cut();
      case REQUESTS_LOST -> at.proxy(index).blackhole(Direction.TO_SERVER);
      case REPLIES_LOST -> at.proxy(index).blackhole(Direction.TO_CLIENT);
      case ONE_REPLY_LOST -> {
        LossStyle style = event.variant() % 2 == 0 ? LossStyle.SILENT : LossStyle.CLOSE;
        at.proxy(index).loseNextReply(style, FaultProxy.containing("EVAL"));
      }
      case SCRIPTS_FLUSHED -> at.server(index).command("SCRIPT", "FLUSH");
      case SUBSCRIBERS_KILLED -> at.server(index).command("CLIENT", "KILL", "TYPE", "pubsub");
      case RESTARTED_EMPTY -> at.server(index).restartEmpty();
      case FLUSHED -> at.server(index).command("FLUSHALL");
      case EXPIRED_EARLY -> at.server(index).command("EVAL", EXPIRE_ALL, "0");
      case PROMOTED -> at.servers().promoteLaggingReplica();
    }
  }

  /** Ends at one target of the event, if it does not end by itself. */
  void end(FaultContext at, int index) {
    switch (this) {
      case CLIENT_PAUSED -> at.clients().process(index).resume();
      case CLIENT_KILLED -> at.clients().replace(index);
      case SERVER_PAUSED -> at.server(index).resume();
      case SERVER_KILLED -> at.server(index).restart();
      default -> {
        if (isOfNetwork()) {
          at.proxy(index).restore();
        }
      }
    }
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
    return this == RESTARTED_EMPTY || this == FLUSHED || this == EXPIRED_EARLY || this == PROMOTED;
  }

  /** Returns whether the fault needs a proxy in front of the server. */
  private boolean isOfNetwork() {
    return switch (this) {
      case DELAYED, CUT, REQUESTS_LOST, REPLIES_LOST, ONE_REPLY_LOST -> true;
      default -> false;
    };
  }

  /** Returns whether the fault is possible there. */
  boolean appliesTo(ServerTopology topology) {
    return switch (topology) {
      case STANDALONE -> this != PROMOTED;
      // A master that is down or paused is replaced: that is PROMOTED. Its replica has no disk.
      case SENTINEL ->
          !isOfNetwork()
              && this != SERVER_PAUSED
              && this != SERVER_KILLED
              && this != RESTARTED_EMPTY;
    };
  }
}
