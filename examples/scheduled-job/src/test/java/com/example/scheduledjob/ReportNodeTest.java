package com.example.scheduledjob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisServerExtension.class)
@Timeout(30)
class ReportNodeTest {
  @Test
  void whileOneNodeWritesTheReportTheOthersDoNot(RedisServer redis, LockClient locks) {
    List<String> reports = new ArrayList<>();
    try (LockClient others = LockClient.create(redis.uri())) {
      ReportNode other = new ReportNode(others, lease -> reports.add("other"));
      ReportNode first =
          new ReportNode(
              locks,
              lease -> {
                other.runIfFirst(); // at the same time
                reports.add("first");
              });

      first.runIfFirst();

      assertEquals(List.of("first"), reports);
    }
  }

  @Test
  void aNodeWhoseClockIsLateDoesNotWriteItAgain(RedisServer redis, LockClient locks) {
    List<String> reports = new ArrayList<>();
    try (LockClient others = LockClient.create(redis.uri())) {
      new ReportNode(locks, lease -> reports.add("first")).runIfFirst();

      new ReportNode(others, lease -> reports.add("other")).runIfFirst();

      assertEquals(List.of("first"), reports);
    }
  }

  @Test
  void theProgramEndsAndItsLockSoonAfterIt(RedisServer redis, LockClient locks) throws Exception {
    ReportNode.main(redis.uri(), "0");

    assertTrue(locks.lock("report").tryLock(Duration.ofSeconds(10)));
  }
}
