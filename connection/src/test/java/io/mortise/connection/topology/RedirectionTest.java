package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

class RedirectionTest {
  private static final HostAndPort NODE = new HostAndPort("10.0.0.1", 7000);

  @Test
  void movedAndAskNameTheNode() {
    assertEquals(
        new Redirection.Moved(NODE),
        Redirection.of(new JedisMovedDataException("MOVED 3 10.0.0.1:7000", NODE, 3)));
    assertEquals(
        new Redirection.Ask(NODE),
        Redirection.of(new JedisAskDataException("ASK 3 10.0.0.1:7000", NODE, 3)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "ERR Script attempted to access a non local key in a cluster node script: 5f",
        "ERR Error running script (call to f_5f): @user_script:3: Script attempted to access a non"
            + " local key in a cluster node",
        "ERR Unable to execute command 'exists' in script because undeclared keys were accessed"
            + " during rehashing of the slot script: 5f",
      })
  void keysInTwoPlacesAreTriedAgain(String text) {
    assertInstanceOf(Redirection.TryAgain.class, Redirection.of(new JedisDataException(text)));
  }

  @Test
  void everythingElseIsNone() {
    assertNull(Redirection.of(null));
    assertNull(Redirection.of(1L));
    assertNull(Redirection.of("MOVED 3 10.0.0.1:7000"));
    assertNull(Redirection.of(new JedisDataException("ERR unknown command")));
    assertNull(Redirection.of(new JedisClusterException("CLUSTERDOWN The cluster is down")));
  }
}
