package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Independent servers, each behind a proxy. They persist each command before they answer it, so a
 * crash loses nothing that was acknowledged.
 */
final class Standalones implements ChaosServers {
  private static final int MAX_CLOCK_SHIFT_MILLIS = 15_000;

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();
  private final List<WallClock> clocks = new ArrayList<>();
  private final Random random;

  /**
   * Starts the servers.
   *
   * @param directory for the files of their clocks
   * @param random decides by how much their clocks differ from the machine's
   */
  Standalones(int count, Path directory, Random random) {
    this.random = random;
    try {
      for (int i = 0; i < count; i++) {
        RedisServer.Builder builder =
            RedisServer.builder().config("appendonly", "yes").config("appendfsync", "always");
        if (PreloadedLibrary.CLOCK.isAvailable()) {
          WallClock clock = new WallClock(directory);
          clocks.add(clock);
          clock.on(builder);
        }
        servers.add(builder.start());
        proxies.add(FaultProxy.to(servers.get(i)));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public List<String> uris() {
    return proxies.stream().map(proxy -> "redis://localhost:" + proxy.port()).toList();
  }

  @Override
  public List<RedisServer> masters() {
    return servers;
  }

  @Override
  public RedisServer server(int index, String name) {
    return servers.get(index);
  }

  @Override
  public FaultProxy proxy(int index) {
    return proxies.get(index);
  }

  @Override
  public void closeConnections() {
    proxies.forEach(FaultProxy::closeConnections);
  }

  @Override
  public void differClocks(boolean differ) {
    for (WallClock clock : clocks) {
      int millis = random.nextInt(2 * MAX_CLOCK_SHIFT_MILLIS) - MAX_CLOCK_SHIFT_MILLIS;
      clock.set(Duration.ofMillis(differ ? millis : 0));
    }
  }

  @Override
  public void stepClock(int index, Duration by) {
    clocks.get(index).step(by);
  }

  @Override
  public void restore() {
    proxies.forEach(FaultProxy::restore);
    for (RedisServer server : servers) {
      if (server.isRunning()) {
        server.resume();
      } else {
        server.restart();
      }
    }
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
    servers.forEach(RedisServer::close);
  }
}
