package io.mortise.cli.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CatalogueTest extends RedisFixture {
  @Test
  void whatIsWrittenIsReadInEveryEntry() {
    Catalogue catalogue = new Catalogue(redis, "c");
    catalogue.reset(1);
    catalogue.write(7);
    Catalogue.State state = catalogue.read();
    assertFalse(state.isTorn());
    assertEquals(Set.of(7), Set.copyOf(state.versions()));
    assertEquals(7, state.newest());
  }

  @Test
  void twoVersionsAreTorn() {
    assertTrue(new Catalogue.State(List.of(3, 3, 4)).isTorn());
    assertEquals(4, new Catalogue.State(List.of(3, 4, 3)).newest());
  }

  @Test
  void writersAreCountedDown() {
    Catalogue catalogue = new Catalogue(redis, "w");
    catalogue.reset(2);
    catalogue.writerIsDone();
    assertTrue(catalogue.hasWriters());
    catalogue.writerIsDone();
    assertFalse(catalogue.hasWriters());
  }

  @Test
  void afterRemovalNothingStandsInRedis() {
    Catalogue catalogue = new Catalogue(redis, "gone");
    catalogue.reset(1);
    catalogue.remove();
    assertEquals(Set.of(), redis.keys("gone*"));
    assertThrows(IllegalStateException.class, catalogue::read);
  }
}
