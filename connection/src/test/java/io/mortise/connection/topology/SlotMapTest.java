package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;

class SlotMapTest {
  private static final HostAndPort ASKED = new HostAndPort("asked", 7);

  private static List<Object> node(String host, long port, String id) {
    return Arrays.asList(host == null ? null : host.getBytes(UTF_8), port, id.getBytes(UTF_8));
  }

  private static List<Object> range(long first, long last, Object... nodes) {
    List<Object> range = new ArrayList<>(List.of(first, last));
    range.addAll(List.of(nodes));
    return range;
  }

  private static SlotMap map(Object... ranges) {
    return SlotMap.of(List.of(ranges), ASKED, 0);
  }

  @Test
  void theFirstNodeOfARangeIsTheMasterOfBothItsEnds() {
    SlotMap map = map(range(5, 7, node("a", 1, "ida"), node("b", 2, "idb")));

    assertEquals(new HostAndPort("a", 1), map.masterOf(5));
    assertEquals(new HostAndPort("a", 1), map.masterOf(7));
    assertNull(map.masterOf(4));
    assertNull(map.masterOf(8));
    assertEquals(Set.of(new HostAndPort("a", 1)), map.masters());
    assertEquals(Set.of(new HostAndPort("a", 1), new HostAndPort("b", 2)), map.nodes());
  }

  @Test
  void aNodeThatDoesNotSayItsHostHasThatOfTheOneThatWasAsked() {
    SlotMap map = map(range(0, 0, node("", 1, "x")), range(1, 1, node(null, 2, "y")));

    assertEquals(new HostAndPort("asked", 1), map.masterOf(0));
    assertEquals(new HostAndPort("asked", 2), map.masterOf(1));
    assertEquals(new HostAndPort("asked", 3), map(range(2, 2, node("?", 3, "z"))).masterOf(2));
  }

  @Test
  void theClusterIsKnownByOneIdInWhicheverOrderItsNodesAreTold() {
    Object one = range(0, 1, node("a", 1, "ida"));
    Object other = range(2, 3, node("b", 2, "idb"));

    assertEquals(Optional.of("ida"), map(one, other).id());
    assertEquals(Optional.of("ida"), map(other, one).id());
    assertEquals(Optional.empty(), map().id());
  }

  @Test
  void otherReplicasAreNoOtherMasters() {
    SlotMap before = map(range(0, 9, node("a", 1, "x"), node("b", 2, "y")));

    assertFalse(
        map(range(0, 4, node("a", 1, "x")), range(5, 9, node("a", 1, "x")))
            .isAfterFailover(before));
    assertTrue(map(range(0, 9, node("b", 2, "y"))).isAfterFailover(before));
    assertTrue(map(range(0, 8, node("a", 1, "x"))).isAfterFailover(before));
  }
}
