package io.mortise.it.docs;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * What the samples of the documents use without declaring it. A sample that is made of statements
 * is the body of a method of a subclass; one that declares a type sees the nested classes here.
 */
class SampleContext {
  final UnifiedJedis jedis;
  final DistributedLock lock;
  final Store store = (row, fencingToken) -> {};
  final String row = "row";

  SampleContext(UnifiedJedis jedis, DistributedLock lock) {
    this.jedis = jedis;
    this.lock = lock;
  }

  final void cancelTheWork(LeaseLoss.Reason reason) {}

  final void runTheJob() {}

  /** A resource that compares tokens. */
  interface Store {
    void write(String row, long fencingToken);
  }

  /** The service of the sample in docs/testing.md. */
  static class OrderService {
    OrderService(LockClient locks) {}

    final void begin(String order) {}

    final boolean isStopped(String order) {
      return order.isEmpty();
    }
  }
}
