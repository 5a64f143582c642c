package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;

/**
 * Independent servers, each behind a proxy. They persist each command before they answer it, so a
 * crash loses nothing that was acknowledged.
 */
final class Standalones implements ChaosServers {
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();

  Standalones(int count) {
    try {
      for (int i = 0; i < count; i++) {
        servers.add(
            RedisServer.builder()
                .config("appendonly", "yes")
                .config("appendfsync", "always")
                .start());
        proxies.add(FaultProxy.to(servers.get(i)));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public List<String> uris() {
    return proxies.stream().map(FaultProxy::uri).toList();
  }

  @Override
  public int count() {
    return servers.size();
  }

  @Override
  public RedisServer server(int index) {
    return servers.get(index);
  }

  @Override
  public FaultProxy proxy(int index) {
    return proxies.get(index);
  }

  @Override
  public void promoteLaggingReplica() {
    throw new UnsupportedOperationException("independent servers have no replicas");
  }

  @Override
  public long promotions() {
    return 0;
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
