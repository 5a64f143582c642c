package io.mortise.it.redlock;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Independent servers, and the clients of two processes on each of them. */
record Nodes(List<RedisServer> servers, List<LockClient> here, List<LockClient> there)
    implements AutoCloseable {
  /** A quarter of the lease; what the lock itself would choose is little on a busy machine. */
  private static final Duration BUDGET = Duration.ofMillis(250);

  static Nodes start(int count, LockOptions options) {
    List<RedisServer> servers =
        IntStream.range(0, count).mapToObj(i -> RedisServer.start()).toList();
    return new Nodes(servers, clients(servers, options), clients(servers, options));
  }

  private static List<LockClient> clients(List<RedisServer> servers, LockOptions options) {
    return servers.stream().map(server -> LockClient.create(server.uri(), options)).toList();
  }

  RedLock lock(String name) {
    return RedLock.builder().members(name, here).nodeWaitBudget(BUDGET).build();
  }

  RedLock otherProcess(String name) {
    return RedLock.builder().members(name, there).nodeWaitBudget(BUDGET).build();
  }

  @Override
  public void close() {
    Stream.concat(here.stream(), there.stream()).forEach(LockClient::close);
    servers.forEach(RedisServer::close);
  }
}
