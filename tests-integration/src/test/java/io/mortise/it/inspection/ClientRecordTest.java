package io.mortise.it.inspection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.RedisLock;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The record of a client: written after some seconds of use, with an end, and only if it may. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class ClientRecordTest {
  private static final long LIFE_MILLIS = 600_000;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = Names.fresh();

  private static void awaitRecord(String clientId) {
    Eventually.until("the record is there", () -> redis.exists(ClientRecords.keyOf(clientId)));
  }

  @Test
  void theProcessOfAnotherClientIsKnownAndItsRecordOutlivesItForAWhile() throws Exception {
    try (JavaProcess child = ChildJvm.start(HoldingProcess.class, redis.uri(), name);
        LockClient client = redis.client()) {
      String[] words = child.awaitLine("locked ", Eventually.LIVENESS).split(" ", -1);
      awaitRecord(words[1]);

      Participant holder = new RedisLock(client, name).inspect().holders().get(0);

      assertEquals(Optional.of(words[1]), holder.clientId());
      assertFalse(holder.isThisClient());
      assertEquals(OptionalLong.of(child.pid()), holder.processId());
      assertEquals(Optional.of(System.getProperty("java.version")), holder.javaVersion());
      assertTrue(holder.host().isPresent());
      assertTrue(holder.clientStartedAt().isPresent());
      assertTrue(holder.mortiseVersion().orElseThrow().matches("\\d.*"), holder::toString);
      System.out.println(new RedisLock(client, name).inspect());

      child.kill();
      long left = redis.ttlMillis(ClientRecords.keyOf(words[1]));
      assertTrue(left > 0 && left <= LIFE_MILLIS, () -> left + " ms");
    }
  }

  @Test
  void theRecordIsRemovedWhenTheClientIsClosedAndIsNoResourceInUse() {
    String id;
    try (LockClient client = redis.client()) {
      id = client.id();
      SharedRedis.warm(client);
      awaitRecord(id);
      Eventually.until("it is idle", () -> client.status().isIdle());
    }
    assertFalse(redis.exists(ClientRecords.keyOf(id)));
  }

  @Test
  void aClientThatIsNotUsedWritesNone() {
    try (LockClient client = redis.client()) {
      assertFalse(new RedisLock(client, name).isLocked());
      Eventually.holdsFor(
          Duration.ofSeconds(12),
          "there is no record",
          () -> !redis.exists(ClientRecords.keyOf(client.id())));
    }
  }

  // ---- rights

  private static String userWith(String user, List<String> rights) {
    RedisServer server = redis.server();
    List<String> command =
        new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on", ">secret"));
    command.addAll(rights);
    assertEquals("OK", server.command(command.toArray(String[]::new)));
    return "redis://%s:secret@%s:%d".formatted(user, server.host(), server.port());
  }

  @Test
  void withoutTheRightAClientLocksAllTheSame() throws Exception {
    redis.command("ACL", "LOG", "RESET");
    try (LockClient client = LockClient.create(userWith("locking", Rights.documented("it:")))) {
      RedisLock lock = new RedisLock(client, name);
      try (Lease lease = lock.acquire()) {
        Eventually.until(
            "the record is refused",
            () -> redis.command("ACL", "LOG").toString().contains("mortise_client"));
        assertTrue(lease.isValid());
        LockException refused = assertThrows(LockException.class, lock::inspect);
        assertEquals(LockException.Reason.ACCESS_DENIED, refused.reason());
      }
      assertFalse(redis.exists(ClientRecords.keyOf(client.id())));
    }
  }

  @Test
  void theDocumentedRightsOfAPlainLockShowItsHolderAndThoseOfAllFamiliesEverything()
      throws Exception {
    List<String> rights = Rights.documented("it:");
    rights.addAll(Rights.ofInspections());
    try (LockClient holding = redis.client();
        Lease lease = new RedisLock(holding, name).acquire();
        LockClient asking = LockClient.create(userWith("asking", rights))) {
      awaitRecord(holding.id());
      RedisLock lock = new RedisLock(asking, name);

      LockInspection part = lock.inspect();

      assertFalse(part.isComplete());
      assertEquals(OptionalLong.of(lease.fencingToken()), part.lastToken());
      assertEquals(
          OptionalLong.of(ProcessHandle.current().pid()), part.holders().get(0).processId());

      List<String> all = Rights.ofAllFamilies("it:");
      all.addAll(Rights.ofInspections());
      userWith("asking", all);
      Eventually.until("all is readable", () -> lock.inspect().isComplete());
    }
  }
}
