package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisDataException;

class NodeReachabilityTest {
  private final List<String> changes = new ArrayList<>();
  private final NodeReachability node =
      new NodeReachability(
          "redis:6379",
          (server, fault) ->
              changes.add(server + (fault == null ? " answers" : ": " + fault.getMessage())));

  private void fail(Kind kind, String message) {
    node.failed(new CommandException(kind, true, message, null));
  }

  @Test
  void aServerThatAnswersIsNotReported() {
    node.answered();
    node.answered();

    assertEquals(List.of(), changes);
  }

  @Test
  void eachChangeIsReportedOnce() {
    fail(Kind.UNREACHABLE, "first");
    fail(Kind.UNREACHABLE, "second");
    node.answered();
    node.answered();
    fail(Kind.UNREACHABLE, "third");

    assertEquals(List.of("redis:6379: first", "redis:6379 answers", "redis:6379: third"), changes);
  }

  @Test
  void anErrorOfTheServerIsAnAnswer() {
    CommandException loading =
        new CommandException(Kind.NOT_READY, false, "loading", new JedisDataException("LOADING"));
    node.failed(loading);
    fail(Kind.UNREACHABLE, "first");
    node.failed(loading);

    assertEquals(List.of("redis:6379: first", "redis:6379 answers"), changes);
  }

  @Test
  void whatWasNotSentSaysNothingOfTheServer() {
    fail(Kind.POOL_EXHAUSTED, "all in use");
    fail(Kind.CLIENT_CLOSED, "closed");
    fail(Kind.UNREACHABLE, "first");
    fail(Kind.POOL_EXHAUSTED, "all in use");

    assertEquals(List.of("redis:6379: first"), changes);
  }
}
