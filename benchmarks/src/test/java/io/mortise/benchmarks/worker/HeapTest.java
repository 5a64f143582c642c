package io.mortise.benchmarks.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The sizes that are read from a class histogram. */
class HeapTest {
  @Test
  void stacksOfVirtualThreadsAreToldApart() {
    String classes =
        """
         num     #instances         #bytes  class name (module)
        -------------------------------------------------------
           1:         10000        7680000  jdk.internal.vm.StackChunk (java.base@25)
           2:         25113        1500000  [B (java.base@25)
        Total         91234       12345678
        """;
    assertEquals(new Heap(12_345_678, 7_680_000), Heap.read(classes));
  }

  /** Much more than tests before this one may have left to be collected. */
  @Test
  void whatIsAddedIsSeen() {
    Heap before = Heap.count();
    byte[][] more = new byte[1_000][100_000];
    Heap now = Heap.count();
    assertEquals(1_000, more.length);
    long added = now.bytes() - before.bytes();
    assertTrue(added > 80_000_000 && added < 120_000_000, () -> added + " bytes");
  }
}
