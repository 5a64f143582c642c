package io.mortise.benchmarks.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two mappings of a counter are one counter. */
class SharedMemoryCounterTest {
  @Test
  void anEntrySeesWhenTheHolderBeforeLeft(@TempDir Path folder) {
    SharedMemoryCounter here = SharedMemoryCounter.map(folder.resolve("counter"));
    SharedMemoryCounter there = SharedMemoryCounter.map(folder.resolve("counter"));
    here.clear();
    assertEquals(0, here.entered());
    here.leaves(42);
    assertEquals(42, there.entered());
    assertEquals(2, here.entries());
    there.clear();
    assertEquals(0, here.entries());
  }
}
