package io.mortise.it.support;

import static io.mortise.testkit.FaultProxy.Direction.TO_CLIENT;
import static io.mortise.testkit.FaultProxy.Direction.TO_SERVER;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.function.BiConsumer;

/** A fault of a server or of its network. {@link ProxiedServers#restore} ends it. */
@SuppressWarnings("ImmutableEnumChecker") // the functions have no state
public enum ServerFault {
  /** The process is gone: connections are refused. It comes back without its data. */
  KILLED(false, (server, proxy) -> server.kill()),
  /** Closes every connection as soon as it is made. */
  REFUSING(true, (server, proxy) -> proxy.cut()),
  /** SIGSTOP: connections are accepted, no command is answered. */
  PAUSED(false, (server, proxy) -> server.pause()),
  /** No byte passes in either direction, and no connection is closed. */
  CUT_OFF(true, (server, proxy) -> cutOff(proxy)),
  /** Each script runs, and its reply is lost. */
  SILENCED(true, (server, proxy) -> loseReplies(proxy, LossStyle.SILENT)),
  /** Each script runs, and the connection is closed instead of its reply. */
  BREAKING(true, (server, proxy) -> loseReplies(proxy, LossStyle.CLOSE)),
  /** Each command runs, and its reply is lost. */
  UNHEARD(true, (server, proxy) -> proxy.blackhole(TO_CLIENT)),
  /** Running again at once, without its data. */
  RESTARTED_EMPTY(false, (server, proxy) -> restart(server)),
  /** Replies late. */
  SLOW(true, (server, proxy) -> proxy.delay(Duration.ofMillis(30)));

  private final boolean ofNetwork;
  private final BiConsumer<RedisServer, FaultProxy> begin;

  ServerFault(boolean ofNetwork, BiConsumer<RedisServer, FaultProxy> begin) {
    this.ofNetwork = ofNetwork;
    this.begin = begin;
  }

  /** Returns whether only clients that come through the proxy notice it. */
  public boolean isOfNetwork() {
    return ofNetwork;
  }

  void begin(RedisServer server, FaultProxy proxy) {
    begin.accept(server, proxy);
  }

  private static void restart(RedisServer server) {
    server.kill();
    server.restart();
  }

  private static void cutOff(FaultProxy proxy) {
    proxy.holdNewConnections();
    proxy.blackhole(TO_SERVER);
    proxy.blackhole(TO_CLIENT);
  }

  private static void loseReplies(FaultProxy proxy, LossStyle style) {
    proxy.loseReplies(Integer.MAX_VALUE, style, FaultProxy.containing("EVAL"));
  }
}
