package io.mortise.it.chaos;

import static io.mortise.it.chaos.Fault.Target.CLIENT;
import static io.mortise.it.chaos.Fault.Target.NONE;
import static io.mortise.it.chaos.Fault.Target.SERVER;
import static io.mortise.it.chaos.ThinkTime.QUICK;
import static io.mortise.it.chaos.ThinkTime.SLOW;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A fault of a client process, of a server, or of the network between them: how it begins and ends,
 * and how long it lasts, in percent of the lease.
 */
enum Fault {
  /** No fault, only holders that stop for a while by themselves, as under all others too. */
  CALM(NONE, QUICK, 100, 100, Action.NOTHING),

  // ---- no acknowledged data is lost: no two holds may overlap

  /** SIGSTOP of a client process, past the lease. */
  CLIENT_PAUSED(CLIENT, SLOW, 110, 160, client(JavaProcess::pause), client(JavaProcess::resume)),
  /** {@code kill -9} of a client process; another one replaces it. */
  CLIENT_KILLED(
      CLIENT,
      QUICK,
      10,
      80,
      client(JavaProcess::kill),
      (at, event, index) -> at.clients().replace(index)),
  /** SIGSTOP of servers, past the lease; then they answer the requests that came meanwhile. */
  SERVER_PAUSED(SERVER, SLOW, 110, 160, server(RedisServer::pause), server(RedisServer::resume)),
  /** {@code kill -9} of servers, which come back with all that they had acknowledged. */
  SERVER_KILLED(SERVER, QUICK, 5, 130, server(RedisServer::kill), server(RedisServer::restart)),
  /** Each message is late, in both directions. */
  DELAYED(
      QUICK, 30, 70, (proxy, event) -> proxy.delay(Duration.ofMillis(5 + event.variant() % 100))),
  /** All connections break, and new ones too. */
  CUT(QUICK, 10, 130, (proxy, event) -> proxy.cut()),
  /** One direction only: requests vanish. */
  REQUESTS_LOST(QUICK, 30, 130, (proxy, event) -> proxy.blackhole(Direction.TO_SERVER)),
  /** One direction only: requests are executed, and no reply arrives. */
  REPLIES_LOST(QUICK, 30, 130, (proxy, event) -> proxy.blackhole(Direction.TO_CLIENT)),
  /** Exactly one script runs without its reply: by silence, or by a broken connection. */
  ONE_REPLY_LOST(
      QUICK,
      10,
      20,
      (proxy, event) ->
          proxy.loseNextReply(
              event.variant() % 2 == 0 ? LossStyle.SILENT : LossStyle.CLOSE,
              FaultProxy.containing("EVAL"))),
  /** SCRIPT FLUSH. */
  SCRIPTS_FLUSHED(SERVER, QUICK, 1, 10, server(it -> it.command("SCRIPT", "FLUSH"))),
  /** CLIENT KILL TYPE pubsub: all subscriptions break. */
  SUBSCRIBERS_KILLED(
      SERVER, QUICK, 5, 20, server(it -> it.command("CLIENT", "KILL", "TYPE", "pubsub"))),

  // ---- data is lost: holds may overlap, but the loser is notified

  /** The server comes back without its data. */
  RESTARTED_EMPTY(SERVER, SLOW, 20, 60, server(RedisServer::restartEmpty)),
  /** FLUSHALL. */
  FLUSHED(SERVER, SLOW, 20, 60, server(it -> it.command("FLUSHALL"))),
  /**
   * All keys that expire, except the tokens, expire now: this is what a lock sees when the clock of
   * a server is set forward by more than the lease.
   */
  EXPIRED_EARLY(SERVER, SLOW, 20, 60, server(it -> it.command("EVAL", Action.EXPIRE_ALL, "0"))),
  /** A replica that has missed the last writes becomes the master. */
  PROMOTED(SERVER, SLOW, 100, 100, (at, event, index) -> at.servers().promoteLaggingReplica());

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

  private static Action client(Consumer<JavaProcess> action) {
    return (at, event, index) -> action.accept(at.clients().process(index));
  }

  private static Action server(Consumer<RedisServer> action) {
    return (at, event, index) -> action.accept(at.server(index));
  }

  private static final Set<Fault> LOSING_DATA =
      EnumSet.of(RESTARTED_EMPTY, FLUSHED, EXPIRED_EARLY, PROMOTED);

  private final Target target;
  private final ThinkTime thinkTime;
  private final int minPercent;
  private final int maxPercent;
  private final Action begin;
  private final Action end;

  /** Creates a fault of the network in front of a server. */
  Fault(
      ThinkTime thinkTime,
      int minPercent,
      int maxPercent,
      BiConsumer<FaultProxy, FaultEvent> begin) {
    this(
        SERVER,
        thinkTime,
        minPercent,
        maxPercent,
        (at, event, index) -> begin.accept(at.proxy(index), event),
        Action.RESTORE_NETWORK);
  }

  /** Creates a fault that ends by itself. */
  Fault(Target target, ThinkTime thinkTime, int minPercent, int maxPercent, Action begin) {
    this(target, thinkTime, minPercent, maxPercent, begin, Action.NOTHING);
  }

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
