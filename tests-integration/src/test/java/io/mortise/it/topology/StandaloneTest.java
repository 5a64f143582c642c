package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;

/** One server with a password: one client with RESP2, the other with RESP3. */
class StandaloneTest extends EveryContract {
  @Override
  Clients start(Path directory) {
    RedisServer server = RedisServer.builder().config("requirepass", "s3cr et@/%").start();
    return Clients.of(
        options -> LockClient.create(server.uri() + "?protocol=2", options),
        options -> LockClient.create(server.uri() + "?protocol=3", options),
        server::close);
  }
}
