package io.mortise.it.redlock;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.function.BiConsumer;

/** What becomes of a node, and how that ends. */
@SuppressWarnings("ImmutableEnumChecker") // the functions have no state
enum NodeFault {
  /** Its process is gone: connections are refused. It comes back without its data. */
  KILLED(false, (server, proxy) -> server.kill(), (server, proxy) -> server.restart()),
  /** Closes every connection as soon as it is made. */
  REFUSING(true, (server, proxy) -> proxy.cut(), (server, proxy) -> proxy.restore()),
  /** SIGSTOP: connections are accepted, nothing is answered. */
  PAUSED(false, (server, proxy) -> server.pause(), (server, proxy) -> server.resume()),
  /** Nothing comes through, and nobody is told. */
  CUT_OFF(true, (server, proxy) -> cutOff(proxy), (server, proxy) -> proxy.restore()),
  /** There again at once, without its data. */
  RESTARTED_EMPTY(false, (server, proxy) -> restartEmpty(server), (server, proxy) -> {}),
  /** Each script runs, and its answer does not come. */
  SILENCED(
      true, (server, proxy) -> lose(proxy, LossStyle.SILENT), (server, proxy) -> proxy.restore()),
  /** Each script runs, and instead of its answer the connection is closed. */
  BREAKING(
      true, (server, proxy) -> lose(proxy, LossStyle.CLOSE), (server, proxy) -> proxy.restore()),
  /** Answers, but late. */
  SLOW(
      true,
      (server, proxy) -> proxy.delay(Duration.ofMillis(30)),
      (server, proxy) -> proxy.restore());

  private final boolean ofTheNetwork;
  private final BiConsumer<RedisServer, FaultProxy> begin;
  private final BiConsumer<RedisServer, FaultProxy> end;

  NodeFault(
      boolean ofTheNetwork,
      BiConsumer<RedisServer, FaultProxy> begin,
      BiConsumer<RedisServer, FaultProxy> end) {
    this.ofTheNetwork = ofTheNetwork;
    this.begin = begin;
    this.end = end;
  }

  /** Whether it is the way to the node that fails: clients have to come through the proxy. */
  boolean isOfTheNetwork() {
    return ofTheNetwork;
  }

  void begin(RedisServer server, FaultProxy proxy) {
    begin.accept(server, proxy);
  }

  void end(RedisServer server, FaultProxy proxy) {
    end.accept(server, proxy);
  }

  private static void restartEmpty(RedisServer server) {
    server.kill();
    server.restart();
  }

  private static void cutOff(FaultProxy proxy) {
    proxy.holdNewConnections();
    proxy.blackhole(Direction.TO_SERVER);
    proxy.blackhole(Direction.TO_CLIENT);
  }

  private static void lose(FaultProxy proxy, LossStyle style) {
    proxy.loseReplies(Integer.MAX_VALUE, style, FaultProxy.containing("EVAL"));
  }
}
