package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job that all nodes schedule for the same time runs on one of them. */
@Timeout(60)
class NightlyReportTest {
  private static final LockOptions IMPATIENT =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(2)).build();

  @RegisterExtension final TwoClients processes = new TwoClients(IMPATIENT);

  private final List<String> written = new CopyOnWriteArrayList<>();

  private NightlyReport node(String name, LockClient client) {
    return new NightlyReport(client, lease -> written.add(name));
  }

  @Test
  void whileOneNodeRunsItTheOthersDoNot() throws Exception {
    Step isWriting = new Step();
    Step mayEnd = new Step();
    NightlyReport here =
        new NightlyReport(
            processes.here(),
            lease -> {
              isWriting.done();
              mayEnd.await();
              lease.ensureValid();
              written.add("here");
            });
    NightlyReport there = node("there", processes.there());

    AsyncCall<Void> running = AsyncCall.run(here::run);
    isWriting.await();
    there.run();
    mayEnd.done();
    running.get();

    assertEquals(List.of("here"), written);
  }

  @Test
  void aNodeWhoseClockIsLateDoesNotRunItAgain() {
    node("here", processes.here()).run();
    NightlyReport there = node("there", processes.there());

    there.run();
    assertEquals(List.of("here"), written);

    processes.here().lock("nightly-report").forceUnlock(); // as if the minimum were over
    there.run();
    assertEquals(List.of("here", "there"), written, "the next night");
  }

  @Test
  void aNightWithoutRedisDoesNotEndTheSchedule() {
    NightlyReport node = node("here", processes.here());
    processes.server().pause();
    try {
      node.run();
    } finally {
      processes.server().resume();
    }
    assertEquals(List.of(), written);

    processes.server().restartEmpty(); // what was under way is gone
    node.run();

    assertEquals(List.of("here"), written);
  }
}
