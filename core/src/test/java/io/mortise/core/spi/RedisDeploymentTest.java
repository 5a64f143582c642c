package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class RedisDeploymentTest {
  /** A node as two clients see it. */
  private record Seen(String address, Optional<String> serverId) implements RedisDeployment {
    Seen(String address, String id) {
      this(address, Optional.ofNullable(id));
    }

    @Override
    public Optional<String> serverId(long withinNanos) {
      return serverId;
    }
  }

  @Test
  void twoAreOneServerByAddressOrById() {
    Seen one = new Seen("a:1", "id");

    assertTrue(one.isSame(new Seen("b:1", "id")));
    assertTrue(one.isSame(new Seen("a:1", "restarted")));
    assertFalse(one.isSame(new Seen("b:1", "other")));
    assertFalse(one.isSame(new Seen("b:1", (String) null)));
    assertFalse(new Seen("c:1", (String) null).isSame(new Seen("b:1", (String) null)));
  }
}
