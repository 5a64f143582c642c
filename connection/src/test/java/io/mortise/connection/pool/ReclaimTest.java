package io.mortise.connection.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;

/** The connections that their borrowers have abandoned, and errors while the pool takes them. */
class ReclaimTest {
  private final Set<PooledConnection> borrowed = new ErrorAfterRemoval();
  private boolean fails;
  private int free;

  /** As a concurrent set does that needs memory to count the elements that are left. */
  private final class ErrorAfterRemoval extends HashSet<PooledConnection> {
    private static final long serialVersionUID = 1;

    @Override
    public boolean remove(Object element) {
      boolean removed = super.remove(element);
      if (fails) {
        throw new OutOfMemoryError("on purpose");
      }
      return removed;
    }
  }

  private final class Abandoned extends PooledConnection {
    private boolean returned;

    Abandoned() {
      abandoned = true;
      borrowed.add(this);
    }

    @Override
    public Connection connection() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void endGeneration() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void giveBack(boolean reusable) {
      if (!returned) {
        free++;
        returned = true;
      }
      borrowed.remove(this);
    }
  }

  @Test
  void anErrorLosesNoConnection() {
    PooledConnection first = new Abandoned();
    PooledConnection second = new Abandoned();
    fails = true;
    assertThrows(OutOfMemoryError.class, () -> PooledConnection.reclaim(borrowed));
    assertEquals(1, free);

    fails = false;
    PooledConnection.reclaim(borrowed);

    assertEquals(2, free);
    assertEquals(Set.of(), borrowed);
    first.giveBack(false);
    second.giveBack(false);
    assertEquals(2, free);
  }
}
