package io.mortise.it.chaos;

import static io.mortise.it.chaos.Fault.Target.CLIENT;
import static io.mortise.it.chaos.Fault.Target.DIRECTORY;
import static io.mortise.it.chaos.Fault.Target.NONE;
import static io.mortise.it.chaos.Fault.Target.SERVER;
import static io.mortise.it.chaos.ThinkTime.QUICK;
import static io.mortise.it.chaos.ThinkTime.SLOW;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.Stutter;
import java.time.Duration;

/**
 * A fault of a client process, of a server, or of the network between them: how it begins and ends,
 * and how long it lasts, in percent of the lease.
 */
enum Fault {
  /** No fault, only holders that stop for a while by themselves, as under all others too. */
  CALM(NONE, QUICK, 100, 100),

  // ---- no acknowledged data is lost: no two holds may overlap

  /** SIGSTOP of a client process for 5 to 50 ms, several times a second. */
  CLIENT_STUTTERS(CLIENT, QUICK, 100, 200),
  /** SIGSTOP of a client process, past the lease. */
  CLIENT_PAUSED(CLIENT, SLOW, 110, 160),
  /** {@code kill -9} of a client process; another one replaces it. */
  CLIENT_KILLED(CLIENT, QUICK, 10, 80),
  /** The clients of a process are closed while its threads use them; others take their place. */
  CLIENT_CLOSED(CLIENT, QUICK, 10, 40),
  /**
   * The heap of a client process is full, for some tens of ms: allocations fail anywhere. Only
   * where a run names it, see {@code docs/reliability.md}.
   */
  HEAP_FULL(CLIENT, QUICK, 20, 60),
  /** No name server answers a client process, and the connections of all break. */
  LOOK_UPS_SILENT(CLIENT, QUICK, 30, 130),
  /** SIGSTOP of servers for 5 to 50 ms, several times a second. */
  SERVER_STUTTERS(SERVER, QUICK, 100, 200),
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
  /** The wall clock of servers steps back by up to two leases, and stays behind. */
  CLOCK_SET_BACK(SERVER, QUICK, 20, 60),
  /** The sentinels answer no client, on existing connections and on new ones. */
  SENTINELS_SILENT(DIRECTORY, QUICK, 60, 200),
  /** The slot of the lock moves to another master of the cluster. */
  RESHARDED(SERVER, QUICK, 20, 60),
  /** A replica that has all writes becomes the master (CLUSTER FAILOVER). */
  SWITCHED_OVER(SERVER, QUICK, 60, 100),

  // ---- holds are taken from their holders: they may overlap, but the loser is notified

  /** A client forces the lock, several times. */
  FORCED(CLIENT, QUICK, 10, 40),
  /** The server comes back without its data. */
  RESTARTED_EMPTY(SERVER, SLOW, 20, 60),
  /** FLUSHALL. */
  FLUSHED(SERVER, SLOW, 20, 60),
  /** All keys that expire, except the tokens, expire now. */
  EXPIRED_EARLY(SERVER, SLOW, 20, 60),
  /** The wall clock of servers steps forward by up to two leases, and stays ahead. */
  CLOCK_SET_FORWARD(SERVER, SLOW, 20, 60),
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

  /** What a fault happens to. Faults of different targets may coincide. */
  enum Target {
    NONE,
    /** A client process. */
    CLIENT,
    /** The servers that have the locks, or the network in front of them. */
    SERVER,
    /** The servers that know where the others are. */
    DIRECTORY
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
      case CLIENT_STUTTERS ->
          at.stutter(
              this + "-" + index, Stutter.start(event.variant(), at.clients().process(index)));
      case CLIENT_PAUSED -> at.clients().process(index).pause();
      case CLIENT_KILLED -> at.clients().process(index).kill();
      case CLIENT_CLOSED -> at.clients().process(index).send("reopen");
      case HEAP_FULL -> at.clients().process(index).send("fill " + heapFull(event).toMillis());
      case LOOK_UPS_SILENT -> {
        at.clients().silenceLookUps(index, true);
        at.servers().closeConnections();
      }
      case SERVER_STUTTERS ->
          at.stutter(this + "-" + index, Stutter.start(event.variant(), at.server(index)));
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
      case CLOCK_SET_BACK -> at.servers().stepClock(index, clockStep(event).negated());
      case SENTINELS_SILENT -> at.servers().silenceDirectory();
      case RESHARDED -> at.servers().moveSlot(index, at.name());
      case SWITCHED_OVER -> at.servers().promoteReplicaInSync(index, at.name());
      case FORCED -> at.clients().process(index).send("force");
      case RESTARTED_EMPTY -> at.server(index).restartEmpty();
      case FLUSHED -> at.server(index).command("FLUSHALL");
      case EXPIRED_EARLY -> at.server(index).command("EVAL", EXPIRE_ALL, "0");
      case CLOCK_SET_FORWARD -> at.servers().stepClock(index, clockStep(event));
      case PROMOTED -> at.servers().promoteLaggingReplica(index, at.name());
    }
  }

  /** Returns by how much the clocks step: 0.3 to 3.3 s. */
  static Duration clockStep(FaultEvent event) {
    return Duration.ofMillis(300 + 3L * event.variant());
  }

  /** Returns for how long the heap is full: 20 to 100 ms, and the time that it takes to fill it. */
  private static Duration heapFull(FaultEvent event) {
    return Duration.ofMillis(20 + event.variant() * 8 / 100);
  }

  /** Ends at one target of the event, if it does not end by itself. */
  void end(FaultContext at, int index) {
    switch (this) {
      case CLIENT_PAUSED -> at.clients().process(index).resume();
      case CLIENT_KILLED -> at.clients().replace(index);
      case SERVER_PAUSED -> at.server(index).resume();
      case SERVER_KILLED -> at.server(index).restart();
      case CLIENT_STUTTERS, SERVER_STUTTERS -> at.endStutter(this + "-" + index);
      case LOOK_UPS_SILENT -> at.clients().silenceLookUps(index, false);
      case SENTINELS_SILENT -> at.servers().restoreDirectory();
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

  /** Returns whether holds may end before their leases, so that they may overlap with the next. */
  boolean takesHolds() {
    return this == FORCED || losesData();
  }

  /** Returns whether a server loses data that it has acknowledged. */
  boolean losesData() {
    return switch (this) {
      case RESTARTED_EMPTY, FLUSHED, EXPIRED_EARLY, CLOCK_SET_FORWARD, PROMOTED -> true;
      default -> false;
    };
  }

  /**
   * Returns whether what is promised stays the same when data is lost at the same time. Not so when
   * clocks step: a token that begins again may be smaller. And a release whose reply is lost cannot
   * tell that the lock was forced from that it was released before (docs/guarantees.md).
   */
  boolean mixesWithLossOfData() {
    return this != CLOCK_SET_BACK && this != CLOCK_SET_FORWARD && this != FORCED;
  }

  /** Returns whether it strikes in a run that names no faults. */
  boolean isUsual() {
    return this != HEAP_FULL;
  }

  /** Returns whether this machine can do it. */
  boolean isPossibleHere() {
    return switch (this) {
      case CLOCK_SET_BACK, CLOCK_SET_FORWARD -> PreloadedLibrary.CLOCK.isAvailable();
      case LOOK_UPS_SILENT -> PreloadedLibrary.LOOK_UP.isAvailable();
      default -> true;
    };
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
    return switch (this) {
      case PROMOTED -> topology != ServerTopology.STANDALONE;
      case SENTINELS_SILENT -> topology == ServerTopology.SENTINEL;
      case RESHARDED, SWITCHED_OVER -> topology == ServerTopology.CLUSTER;
      // A master that is down or paused is replaced: that is PROMOTED. Its replica has no disk.
      case SERVER_PAUSED, SERVER_KILLED, RESTARTED_EMPTY -> topology == ServerTopology.STANDALONE;
      case CLOCK_SET_BACK, CLOCK_SET_FORWARD, LOOK_UPS_SILENT ->
          topology == ServerTopology.STANDALONE;
      default -> !isOfNetwork() || topology == ServerTopology.STANDALONE;
    };
  }
}
