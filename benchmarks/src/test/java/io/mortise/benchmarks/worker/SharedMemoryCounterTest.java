package io.mortise.benchmarks.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two mappings of a counter are one counter. */
class SharedMemoryCounterTest {
  private SharedMemoryCounter here;
  private SharedMemoryCounter there;

  @BeforeEach
  void map(@TempDir Path folder) {
    here = SharedMemoryCounter.map(folder.resolve("counter"));
    there = SharedMemoryCounter.map(folder.resolve("counter"));
    here.clear();
  }

  @Test
  void anEntrySeesWhenTheHolderBeforeLeft() {
    assertEquals(0, here.left());
    here.leaves(here.entries(), 42);
    assertEquals(42, there.left());
    there.leaves(there.entries(), 43);
    assertEquals(2, here.entries());
    there.clear();
    assertEquals(0, here.entries());
  }

  @Test
  void holdersThatOverlapAreCountedAsOne() {
    long first = here.entries();
    long second = there.entries();
    here.leaves(first, 42);
    there.leaves(second, 43);
    assertEquals(1, here.entries());
  }

  @Test
  void holdersInsideAnotherAreNotCounted() {
    long outer = here.entries();
    there.leaves(there.entries(), 41);
    there.leaves(there.entries(), 42);
    here.leaves(outer, 43);
    assertEquals(1, here.entries());
  }
}
