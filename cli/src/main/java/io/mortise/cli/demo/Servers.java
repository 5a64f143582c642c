package io.mortise.cli.demo;

import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Outage;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Redis servers of the demo's own, which it kills and brings back. One thread has them in hand. */
final class Servers implements AutoCloseable {
  private final List<RedisServer> servers = new ArrayList<>();
  private final Map<Integer, Long> awaySince = new HashMap<>();
  private final List<Outage> outages = new ArrayList<>();

  private Servers() {}

  /**
   * Starts so many.
   *
   * @throws DemoFailure if that is not possible; says why
   */
  static Servers start(int count) {
    Servers servers = new Servers();
    try {
      for (int i = 0; i < count; i++) {
        servers.servers.add(RedisServer.start());
      }
      return servers;
    } catch (RuntimeException e) {
      servers.close();
      throw new DemoFailure(
          "this chapter needs %d Redis servers of its own, and they could not be started (%s). Choose others with --chapter"
              .formatted(count, e.getMessage()),
          e);
    }
  }

  List<String> uris() {
    return servers.stream().map(RedisServer::uri).toList();
  }

  /** SIGKILL. Returns when the process is gone; gives the time before, in ns. */
  long kill(int server) {
    long now = System.nanoTime();
    servers.get(server).kill();
    awaySince.put(server, now);
    return now;
  }

  /** Starts it again, without what it had known. Returns when it answers. */
  void bringBack(int server) {
    try {
      servers.get(server).restart();
    } catch (IllegalStateException e) {
      throw new DemoFailure(
          "server %d could not be started again: %s".formatted(server + 1, e.getMessage()), e);
    }
    Long since = awaySince.remove(server);
    if (since != null) {
      outages.add(new Outage(server, since, System.nanoTime()));
    }
  }

  /** Those that are over. */
  List<Outage> outages() {
    return List.copyOf(outages);
  }

  /** A row for each. */
  List<Lane> lanes() {
    return IntStream.range(0, servers.size())
        .mapToObj(
            server ->
                Lane.ofOutages(
                    "server " + (server + 1),
                    outages.stream().filter(outage -> outage.server() == server).toList()))
        .toList();
  }

  @Override
  public void close() {
    servers.forEach(RedisServer::close);
  }
}
