package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

/** The health of the nodes is shared by all locks, and keeps no client in memory. */
class NodeHealthTest {
  private static final int COLLECTIONS = 100;
  private static final long PAUSE_MILLIS = 100;

  private final ReferenceQueue<FakeNode> collected = new ReferenceQueue<>();

  private WeakReference<FakeNode> usedAndDropped() {
    FakeNode node = new FakeNode("a:1");
    QuorumMember.of(node).onAbandoned();
    return new WeakReference<>(node, collected);
  }

  @Test
  void aClientThatIsNotUsedAnyMoreIsCollected() throws Exception {
    WeakReference<FakeNode> node = usedAndDropped();
    Reference<?> seen = null;
    for (int i = 0; i < COLLECTIONS && seen == null; i++) {
      System.gc();
      seen = collected.remove(PAUSE_MILLIS);
    }

    assertNotNull(seen, () -> "still reachable: " + (node.get() != null));
  }
}
