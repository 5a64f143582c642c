package io.mortise.it.docs;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * The names that samples of the documents use without declaring them. A sample that is made of
 * statements is the body of a method of a subclass; one that declares a type sees the nested
 * classes here.
 */
class SampleContext {
  final UnifiedJedis jedis;
  final LockClient client;
  final DistributedLock lock;
  final Store store = (row, fencingToken) -> {};
  final String row = "row";
  final String uri = "redis://redis.internal:6379";
  final MeterRegistry registry = new SimpleMeterRegistry();
  final ObservationRegistry observations = ObservationRegistry.create();

  SampleContext(UnifiedJedis jedis, LockClient client, DistributedLock lock) {
    this.jedis = jedis;
    this.client = client;
    this.lock = lock;
  }

  final void cancelTheWork(LeaseLoss.Reason reason) {}

  final void runTheJob() {}

  final boolean sellOne(int segment, long fencingToken) {
    return segment >= 0 && fencingToken > 0;
  }

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
