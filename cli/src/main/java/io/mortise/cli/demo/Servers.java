package io.mortise.cli.demo;

import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Outage;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Redis servers that the demo starts, kills and starts again.
 *
 * <p><b>Threads.</b> One thread, that of the chapter.
 */
final class Servers implements AutoCloseable {
  private final List<RedisServer> servers = new ArrayList<>();
  private final Map<Integer, Long> downSince = new HashMap<>();
  private final List<Outage> outages = new ArrayList<>();

  private Servers() {}

  /**
   * Starts this many servers.
   *
   * @throws DemoFailure if that is not possible
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

  /** Kills a server with SIGKILL; returns the time, in ns, when the process is gone. */
  long kill(int server) {
    long now = System.nanoTime();
    servers.get(server).kill();
    downSince.put(server, now);
    return now;
  }

  /** Starts it again, without its data. Returns when it answers. */
  void restart(int server) {
    try {
      servers.get(server).restart();
    } catch (IllegalStateException e) {
      throw new DemoFailure(
          "server %d could not be started again: %s".formatted(server + 1, e.getMessage()), e);
    }
    Long since = downSince.remove(server);
    if (since != null) {
      outages.add(new Outage(server, since, System.nanoTime()));
    }
  }

  /** The outages that are over. */
  List<Outage> outages() {
    return List.copyOf(outages);
  }

  /** A lane for each server. */
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
