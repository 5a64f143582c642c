package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.core.LockException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class LockExceptionsTest {
  private static final String WHERE = "redis.example:6379";

  private static final String SILENCE =
      "; look at the load of the server and at the network, or raise LockOptions.commandTimeout or"
          + " the wait";

  private static final String OUT_OF_REACH =
      "; see whether the server runs, and whether host, port and TLS settings are right";

  @ParameterizedTest
  @EnumSource
  void eachKindOfFaultHasAReasonOfItsName(CommandException.Kind kind) {
    CommandException fault = new CommandException(kind, false, "on purpose", null);

    assertEquals(kind.name(), LockExceptions.from(fault).reason().name());
    assertEquals(kind.isTransient(), LockExceptions.from(fault).reason().isTransient());
  }

  private static void assertSays(String expected, CommandException fault) {
    assertEquals(expected, LockExceptions.from(fault).getMessage());
    assertEquals("lock 'x': " + expected, LockExceptions.from(fault, "x").getMessage());
    assertEquals(
        "lock 'x': held: " + expected, LockExceptions.from(fault, "x", "held").getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "LOADING Redis is loading the dataset in memory | the server is not ready"
            + " | wait until it has loaded its data",
        "READONLY You can't write. | the server is a replica and takes no writes"
            + " | name its master, or the sentinels that watch it",
        "OOM command not allowed. | the server has no memory left | raise maxmemory, or delete"
            + " keys: a server that may not evict refuses writes when it is full",
        "NOAUTH Authentication required. | access was denied"
            + " | correct user and password in the URI of the client",
        "NOPERM no permissions to run 'evalsha' | access was denied"
            + " | give the user the rights of docs/wire.md, for the names of its locks",
        "MOVED 42 127.0.0.1:6380 | the server is a node of a Redis Cluster"
            + " | name several of its nodes in the URI, or use redis-cluster://",
        "WRONGTYPE Operation against a key | the name is in use as something else"
            + " | use another name, or a namespace that nothing else uses",
        "ERR DB index is out of range | the server has no such database"
            + " | check the number at the end of the URI",
      })
  void aRefusalOfTheServerHasItsRemedyBehindTheFact(String reply, String fact, String remedy) {
    assertSays(
        "%s (%s says: %s); %s".formatted(fact, WHERE, reply, remedy),
        ErrorClassifier.of(new JedisDataException(reply), WHERE, true));
  }

  /** One address stands for both. */
  @Test
  void thePasswordOfAMasterAndThatOfItsSentinelsHaveTheirPlaces() {
    String where = "the master 'm' of sentinels [127.0.0.1:26379]";
    for (String reply : List.of("NOAUTH Authentication required.", "WRONGPASS invalid")) {
      assertSays(
          "access was denied (%s says: %s); correct user and password: those of the master in the"
                  .formatted(where, reply)
              + " URI of the client, those of the sentinels in its ConnectionSecurity",
          ErrorClassifier.of(new JedisDataException(reply), where, true));
    }
    String reply = "NOPERM this user has no permissions to run the 'hset' command";
    assertSays(
        "access was denied (%s says: %s); give the user the rights of docs/wire.md, for the names"
                .formatted(where, reply)
            + " of its locks",
        ErrorClassifier.of(new JedisDataException(reply), where, true));
  }

  @ParameterizedTest
  @CsvSource({
    "NOT_REPLICATED, 0 of 1 replicas, 'connect more replicas, or require fewer acknowledgements'",
    "NOT_SUPPORTED, unknown command, 'use a server that has this command, or leave out the option'",
    "NOT_SUPPORTED, appendonly is disabled,"
        + " 'let the server write its append-only file (appendonly yes), or leave out the option'",
  })
  void anAcquisitionThatWasUndoneHasARemedy(Kind kind, String fact, String remedy) {
    String undone = fact + "; it was undone";
    assertSays(undone + "; " + remedy, new CommandException(kind, false, undone, null));
  }

  @Test
  void theRemedyIsTheEndOfTheMessage() {
    CommandException fault = ErrorClassifier.of(new JedisDataException("LOADING"), WHERE, true);
    LockException thrown = LockExceptions.from(fault, "x");
    String remedy = thrown.remedy().orElseThrow();
    assertTrue(thrown.getMessage().endsWith("; " + remedy), thrown::getMessage);
  }

  @Test
  void aReasonIsRequired() {
    assertThrows(NullPointerException.class, () -> new LockException(null, "fact", null));
  }

  @Test
  void aSilentServerIsAMatterOfTime() {
    SocketTimeoutException late = new SocketTimeoutException("Read timed out");
    JedisConnectionException besides = new JedisConnectionException("no address answers");
    besides.addSuppressed(late);

    for (Exception thrown : new Exception[] {new JedisConnectionException(late), besides}) {
      assertSays(
          WHERE + " did not answer in time" + SILENCE, ErrorClassifier.of(thrown, WHERE, true));
    }
    assertSays(
        WHERE + " did not answer the commands before in time" + SILENCE,
        new CommandException(
            Kind.UNREACHABLE,
            false,
            WHERE + " did not answer the commands before in time",
            new TimeoutException()));
  }

  @Test
  void aServerThatCannotBeReachedMayNotRun() {
    assertSays(
        WHERE + " refuses the connection" + OUT_OF_REACH,
        ErrorClassifier.ofConnecting(
            new JedisConnectionException(new ConnectException("refused")), WHERE));
    assertSays(
        "the connection to " + WHERE + " failed: Unexpected end of stream." + OUT_OF_REACH,
        ErrorClassifier.of(new JedisConnectionException("Unexpected end of stream."), WHERE, true));
  }

  @Test
  void aFactThatNamesItsRemedyGetsNoOther() {
    assertSays(
        WHERE + " has no address; check the host name",
        ErrorClassifier.of(
            new JedisConnectionException(new UnknownHostException("redis.example")), WHERE, false));
    assertSays(
        WHERE
            + " closed the connection at once: Unexpected end of stream.; if it speaks TLS on that"
            + " port, use rediss:// instead of redis://",
        ErrorClassifier.ofConnecting(
            new JedisConnectionException("Unexpected end of stream."), WHERE));
    assertSays(
        "all connections to "
            + WHERE
            + " are in use; raise LockTuning.maxConnections, or the size of the pool of your Jedis"
            + " client",
        ErrorClassifier.of(new NoSuchElementException("Timeout"), WHERE, false));
    assertSays(
        "the answer took longer than the lease of 5 ms; give a longer lease",
        new CommandException(
            Kind.UNREACHABLE,
            true,
            "the answer took longer than the lease of 5 ms; give a longer lease",
            new TimeoutException()));
  }

  @Test
  void anErrorOfThisProcessIsNoMatterOfTheServer() {
    assertSays(
        "the answer could not be read",
        new CommandException(Kind.UNREACHABLE, true, "the answer could not be read", null));
    assertSays(
        "an error kept the answer back",
        new CommandException(
            Kind.SCRIPT, true, "an error kept the answer back", new OutOfMemoryError()));
  }
}
