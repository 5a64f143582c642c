package io.mortise.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DoctorCommandTest {
  private static RedisServer sound() {
    return RedisServer.builder().config("appendonly", "yes").start();
  }

  @Test
  void aSoundServerIsOkInEachCheck() {
    try (RedisServer server = sound()) {
      CommandRun run = CommandRun.of("doctor", "--redis", server.uri());

      assertEquals(0, run.status(), run::out);
      assertEquals(
          10, run.out().lines().filter(line -> line.startsWith("  ok ")).count(), run::out);
      assertTrue(run.out().contains("all is well"), run::out);
      assertEquals(0L, server.command("DBSIZE"), "it leaves no key");
    }
  }

  @Test
  void aReportThatCannotBeWrittenIsStatusThree() throws Exception {
    try (RedisServer server = sound()) {
      CommandRun run = CommandRun.onAFullDisk("doctor", "--redis", server.uri());

      assertEquals(3, run.status());
      assertTrue(run.err().contains("standard output cannot be written"), run::err);
    }
  }

  @Test
  void aWarningIsStatusFourAndSaysWhatToDo() {
    try (RedisServer server =
        RedisServer.builder()
            .config("maxmemory", "100mb")
            .config("maxmemory-policy", "volatile-lru")
            .start()) {
      CommandRun run = CommandRun.of("doctor", "--redis", server.uri());

      assertEquals(4, run.status(), run::out);
      assertTrue(run.out().contains("  warning  eviction"), run::out);
      assertTrue(run.out().contains("keep locks on a server with noeviction"), run::out);
      assertTrue(run.out().contains("  warning  persistence"), run::out);
      run.out().lines().forEach(line -> assertTrue(line.length() <= 120, line));
    }
  }

  @Test
  void aServerThatCannotBeReachedIsAProblem() {
    CommandRun run = CommandRun.of("doctor", "--redis", "redis://:secret@127.0.0.1:1");

    assertEquals(1, run.status());
    assertTrue(run.out().contains("  problem  connection"), run::out);
    assertTrue(run.out().contains("refuses the connection"), run::out);
    assertTrue(run.out().contains("-> see whether the server runs"), run::out);
    assertFalse(run.out().contains("secret"), run::out);
  }

  /** Its user sets options, and no settings of the library. */
  @Test
  void aRemedyNamesTheOptionThatSetsIt() {
    try (RedisServer server = sound();
        FaultProxy silent = FaultProxy.to(server)) {
      silent.blackhole(FaultProxy.Direction.TO_CLIENT);

      CommandRun table = CommandRun.of("doctor", "--timeout", "500ms", "--redis", silent.uri());
      CommandRun json =
          CommandRun.of("doctor", "--json", "--timeout", "500ms", "--redis", silent.uri());

      for (CommandRun run : List.of(table, json)) {
        assertEquals(1, run.status(), run::out);
        assertTrue(run.out().contains("raise --timeout"), run::out);
        assertFalse(run.out().contains("LockOptions."), run::out);
      }
    }
  }

  @Test
  void jsonHasFactsAndFindings() throws Exception {
    try (RedisServer server = RedisServer.builder().config("maxmemory", "100kb").start()) {
      CommandRun run = CommandRun.of("doctor", "--json", "--redis", server.uri());

      assertEquals(1, run.status(), run::out);
      JsonNode found = new ObjectMapper().readTree(run.out());
      assertEquals("error", found.path("severity").asText());
      JsonNode only = found.at("/servers/0");
      assertTrue(only.path("reachable").asBoolean());
      assertEquals("master", only.at("/facts/role").asText());
      JsonNode worst = only.at("/findings/0");
      assertEquals("commands", worst.path("check").asText());
      assertEquals("out_of_memory", worst.path("reason").asText());
      assertTrue(worst.path("remedy").asText().contains("maxmemory"), run::out);
    }
  }

  @Test
  void serversOfARedLockAreComparedToo() {
    try (RedisServer one = sound();
        RedisServer two = sound()) {
      CommandRun twice =
          CommandRun.of(
              "doctor",
              "--redis",
              one.uri(),
              "--redis",
              one.uri().replace("127.0.0.1", "localhost"));
      assertEquals(1, twice.status(), twice::out);
      assertTrue(twice.out().contains("are one server"), twice::out);

      CommandRun even = CommandRun.of("doctor", "--redis", one.uri(), "--redis", two.uri());
      assertEquals(0, even.status(), even::out);
      assertTrue(even.out().contains("use an odd number of servers"), even::out);

      CommandRun minority =
          CommandRun.of(
              "doctor",
              "--redis",
              one.uri(),
              "--redis",
              "redis://127.0.0.1:1",
              "--redis",
              "redis://127.0.0.1:2");
      assertEquals(1, minority.status());
      assertTrue(minority.out().contains("only 1 of 3 servers answer"), minority::out);
    }
  }

  /** A silent server has answered nothing that could be compared. */
  @Test
  void serversThatDoNotAnswerAreNotAskedAgainForAComparison() {
    try (RedisServer server = sound();
        FaultProxy one = FaultProxy.to(server);
        FaultProxy two = FaultProxy.to(server)) {
      one.blackhole(FaultProxy.Direction.TO_CLIENT);
      two.blackhole(FaultProxy.Direction.TO_CLIENT);

      CommandRun alone = CommandRun.of("doctor", "--timeout", "1s", "--redis", one.uri());
      CommandRun both =
          CommandRun.of("doctor", "--timeout", "1s", "--redis", one.uri(), "--redis", two.uri());

      assertEquals(1, alone.status(), alone::out);
      assertEquals(1, both.status(), both::out);
      assertEquals(2 * two.connectionsAccepted(), one.connectionsAccepted(), both::out);
    }
  }
}
