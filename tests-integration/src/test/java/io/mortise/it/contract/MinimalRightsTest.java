package io.mortise.it.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rights on one server, in a database other than 0, over RESP3. */
class MinimalRightsTest extends RightsContract {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Override
  List<RedisServer> nodes() {
    return List.of(redis.server());
  }

  @Override
  List<String> rules() throws IOException {
    return Rights.documented(PREFIX);
  }

  /** Without PING, which a subscriber sends when it has heard nothing for some seconds. */
  @Override
  Stream<String> rights() throws IOException {
    return rules().stream()
        .filter(right -> !right.equals("+ping") && !right.equals("resetchannels"));
  }

  @Override
  String uri(String user) {
    RedisServer server = redis.server();
    return "redis://%s:secret@%s:%d/3?protocol=3".formatted(user, server.host(), server.port());
  }

  @Override
  void useMore(DistributedLock lock) {}

  @Test
  void allWorksWithoutInfo() throws Exception {
    List<String> others = rules();
    assertTrue(others.remove("+info"));

    useAll(others);
  }
}
