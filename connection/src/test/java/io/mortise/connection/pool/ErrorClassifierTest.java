package io.mortise.connection.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.testing.TestSettings;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.NoSuchElementException;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Every error text as the servers write it; {@code ~} stands for their frame around a script's. */
class ErrorClassifierTest {
  private static final String WHERE = "redis.example:6379";

  /** Redis 6.2 and before. */
  private static final String BEFORE_7 =
      "ERR Error running script (call to f_8d57a764c515eeb66b6e51f86ee3b1e32cae6b59):"
          + " @user_script:17: ";

  private static final String SINCE_7 =
      " script: 8d57a764c515eeb66b6e51f86ee3b1e32cae6b59, on @user_script:17.";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "LOADING Redis is loading the dataset in memory | NOT_READY",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
            + " | NOT_READY",
        "UNKILLABLE Sorry the script already executed write commands. | NOT_READY",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
            + " | NOT_READY",
        "CLUSTERDOWN Hash slot not served | NOT_READY",
        "CLUSTERDOWN The cluster is down | NOT_READY",
        "TRYAGAIN Multiple keys request during rehashing of slot | NOT_READY",
        "NOREPLICAS Not enough good replicas to write. | NOT_READY",
        "ERR max number of clients reached | NOT_READY",
        "ERR max number of clients + cluster connections reached | NOT_READY",
        "MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist"
            + " on disk. | NOT_READY",
        "OOM command not allowed when used memory > 'maxmemory'. | OUT_OF_MEMORY",
        "READONLY You can't write against a read only replica. | READ_ONLY",
        "ERR WAIT cannot be used with replica instances. Please also note that if a replica is"
            + " configured to be writable writes are just local. | READ_ONLY",
        "ERR WAITAOF cannot be used with replica instances. Please also note that writes to"
            + " replicas are just local and are not propagated. | READ_ONLY",
        "WRONGPASS invalid username-password pair or user is disabled. | ACCESS_DENIED",
        "NOAUTH Authentication required. | ACCESS_DENIED",
        "NOPERM this user has no permissions to run the 'evalsha' command | ACCESS_DENIED",
        "NOPERM this user has no permissions to access one of the keys used as arguments"
            + " | ACCESS_DENIED",
        "ERR invalid password | ACCESS_DENIED",
        "ERR AUTH <password> called without any password configured for the default user. Are you"
            + " sure your configuration is correct? | ACCESS_DENIED",
        "ERR Client sent AUTH, but no password is set | ACCESS_DENIED",
        "DENIED Redis is running in protected mode because protected mode is enabled and no"
            + " password is set for the default user. | ACCESS_DENIED",
        "LOCKTYPE the name is held as a read-write lock | WRONG_TYPE",
        "WRONGTYPE Operation against a key holding the wrong kind of value | WRONG_TYPE",
        "ERR unknown command `EVALSHA`, with args beginning with: | SCRIPT",
        "ERR DB index is out of range | MISCONFIGURED",
        "ERR SELECT is not allowed in cluster mode | MISCONFIGURED",
        "ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'"
            + " | SCRIPT",
      })
  void aPlainReplyIsKnownByItsWords(String reply, Kind reason) {
    assertReply(reply, reason, reply);
  }

  /** The write before the WAIT has run. */
  @Test
  void aWaitThatEndsWithADemotionMayHaveRun() {
    CommandException fault =
        reply(
            "UNBLOCKED force unblock from blocking operation, instance state changed (master ->"
                + " replica?)");

    assertEquals(Kind.NOT_READY, fault.kind());
    assertTrue(fault.mayHaveExecuted());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "@user_script: 17: -OOM command not allowed when used memory > 'maxmemory'."
            + " | OUT_OF_MEMORY",
        "@user_script: 17: -READONLY You can't write against a read only replica. | READ_ONLY",
        "@user_script: 17: -NOREPLICAS Not enough good replicas to write. | NOT_READY",
        "@user_script: 17: -MISCONF Redis is configured to save RDB snapshots, but it is currently"
            + " not able to persist on disk. | NOT_READY",
        "WRONGTYPE Operation against a key holding the wrong kind of value | WRONG_TYPE",
      })
  void beforeRedis7TheReplyOfACommandInsideAScriptIsFound(String inside, Kind reason) {
    String told = inside.replaceFirst("@user_script: 17: -", "");
    assertReply(BEFORE_7 + inside, reason, told);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "@user_script: 17: The user executing the script can't run this command or subcommand"
            + " | ACCESS_DENIED",
        "@user_script: 17: The user executing the script can't access at least one of the keys"
            + " mentioned in the command arguments | ACCESS_DENIED",
        "@user_script: 17: Unknown Redis command called from Lua script | SCRIPT",
        "user_script:17: attempt to compare number with nil | SCRIPT",
        "ERR value is not an integer or out of range | SCRIPT",
        "Script killed by user with SCRIPT KILL... | SCRIPT",
      })
  void beforeRedis7WhatGoesWrongInAScriptItselfIsKnownToo(String inside, Kind reason) {
    assertEquals(reason, reply(BEFORE_7 + inside).kind());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "OOM command not allowed when used memory > 'maxmemory'. | OUT_OF_MEMORY",
        "READONLY You can't write against a read only replica. | READ_ONLY",
        "WRONGTYPE Operation against a key holding the wrong kind of value | WRONG_TYPE",
        "LOCKTYPE the name is held as a read-write lock | WRONG_TYPE",
        "NOREPLICAS Not enough good replicas to write. | NOT_READY",
        "MISCONF Errors writing to the AOF file: No space left on device | NOT_READY",
        "NOPERM User joe has no permissions to run the 'hset' command | ACCESS_DENIED",
        "ERR The user executing the script can't run this command or subcommand | ACCESS_DENIED",
        "ERR The user executing the script can't access at least one of the keys mentioned in the"
            + " command arguments | ACCESS_DENIED",
        "ERR ACL failure in script: User joe has no permissions to run the 'time' command"
            + " | ACCESS_DENIED",
        "ERR user_script:17: attempt to compare number with nil | SCRIPT",
      })
  void sinceRedis7TheReplyOfACommandInsideAScriptComesFirst(String inside, Kind reason) {
    assertReply(inside + SINCE_7, reason, inside + SINCE_7);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Script attempted to access a non local key in a cluster node",
        "Unable to execute command 'exists' in script because undeclared keys were accessed during"
            + " rehashing of the slot",
        "Script attempted to execute a command while the cluster is down",
        "Script attempted to execute a write command while the cluster is down and readonly",
        "Script attempted to access a slot not served",
      })
  void whatAClusterRefusesInTheMiddleOfAScriptMayPassAndMayHaveRun(String inside) {
    for (String text : List.of(BEFORE_7 + inside, "ERR " + inside + SINCE_7)) {
      CommandException fault = reply(text);
      assertEquals(Kind.NOT_READY, fault.kind());
      assertTrue(fault.mayHaveExecuted());
    }
  }

  @Test
  void theMessageNamesTheFactAndTheServersOwnWords() {
    assertEquals(
        "access was denied (redis.example:6379 says: NOAUTH Authentication required.)",
        reply("NOAUTH Authentication required.").getMessage());
    assertEquals(
        "the server is a replica and takes no writes"
            + " (redis.example:6379 says: READONLY You can't write against a read only replica.)",
        reply(BEFORE_7 + "@user_script: 17: -READONLY You can't write against a read only replica.")
            .getMessage());
  }

  @Test
  void noConnectionThereIsAFactAndNotAnAnswer() {
    assertLost(WHERE + " refuses the connection", new ConnectException("refused"));
    assertLost("has no address; check the host name", new UnknownHostException("redis.example"));
    assertLost("did not answer in time", new SocketTimeoutException("Read timed out"));
    assertLost("the connection to " + WHERE + " failed: why", new NoRouteToHostException("no way"));
  }

  /** No server was asked: its load is not to be looked at. */
  @Test
  void aLookUpThatIsOutOfTimeIsNoSilentServer() {
    HostAddresses slow =
        new HostAddresses(
            "redis.example",
            host -> {
              throw new AssertionError("nobody looks it up");
            },
            task -> new Thread(() -> {}));
    JedisConnectionException thrown =
        new JedisConnectionException(
            "why", assertThrows(IOException.class, () -> slow.until(TestSettings.after(0))));

    CommandException fault = ErrorClassifier.ofConnecting(thrown, WHERE);

    assertEquals(
        "the look-up of redis.example takes too long; look at the name service of this machine, or"
            + " raise LockOptions.commandTimeout or the wait",
        fault.getMessage());
    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.isTimeOut());
  }

  private static void assertLost(String fact, Exception io) {
    JedisConnectionException asCause = new JedisConnectionException("why", io);
    JedisConnectionException besides = new JedisConnectionException("why");
    besides.addSuppressed(io);
    for (JedisConnectionException thrown : new JedisConnectionException[] {asCause, besides}) {
      for (boolean sent : new boolean[] {true, false}) {
        CommandException fault = ErrorClassifier.of(thrown, WHERE, sent);
        assertEquals(Kind.UNREACHABLE, fault.kind());
        assertEquals(sent, fault.mayHaveExecuted());
        assertTrue(fault.getMessage().contains(fact), fault.getMessage());
        assertTrue(fault.getMessage().contains(WHERE), fault.getMessage());
        assertSame(thrown, fault.getCause());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Connection reset, true",
    "Connection reset by peer, true",
    "Broken pipe, true",
    "An established connection was aborted by the software in your host machine, true",
    "Too many open files, false",
    "Network is unreachable, false",
  })
  void aConnectionIsClosedByItsOtherEnd(String message, boolean closed) {
    SocketException io = new SocketException(message);

    CommandException fault =
        ErrorClassifier.ofConnecting(new JedisConnectionException(message, io), WHERE);

    assertEquals(closed, ErrorClassifier.hasClosed(fault));
    assertEquals(closed, fault.getMessage().contains("closed the connection at once"));
  }

  @Test
  void aConnectionIsClosedByItsOtherEndInsideTls() {
    SSLException tls = new SSLException("Remote host terminated the handshake", new EOFException());
    JedisConnectionException thrown = new JedisConnectionException("connecting failed", tls);

    assertTrue(ErrorClassifier.hasClosed(ErrorClassifier.ofConnecting(thrown, WHERE)));
  }

  @Test
  void aRefusedConnectionIsNotClosedByItsOtherEnd() {
    ConnectException io = new ConnectException("Connection refused");

    assertFalse(
        ErrorClassifier.hasClosed(
            ErrorClassifier.ofConnecting(new JedisConnectionException("why", io), WHERE)));
  }

  @Test
  void anEmptyPoolHasItsOwnRemedy() {
    CommandException fault =
        ErrorClassifier.of(new NoSuchElementException("Timeout waiting"), WHERE, false);

    assertEquals(Kind.POOL_EXHAUSTED, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertEquals(
        "all connections to "
            + WHERE
            + " are in use; raise LockTuning.maxConnections, or the size of the pool of your Jedis"
            + " client",
        fault.getMessage());
  }

  @Test
  void whatFailsAfterAnEarlierTryMayHaveRunAtTheServerOfThat() {
    CommandException first = reply("LOADING").onServer("its run id");
    CommandException second =
        ErrorClassifier.of(new JedisConnectionException("refused"), WHERE, false);

    CommandException both = second.afterEarlier(first);

    assertTrue(both.mayHaveExecuted());
    assertEquals("its run id", both.serverRunId());
    assertEquals(second.getMessage(), both.getMessage());
    assertSame(first, first.afterEarlier(null));
  }

  @Test
  void anErrorReplyLeavesAnEarlierTryWithoutAnAnswer() {
    CommandException lost =
        ErrorClassifier.of(new JedisConnectionException("broken"), WHERE, true).onServer("first");
    CommandException refused = reply("OOM");
    CommandException notSent =
        ErrorClassifier.of(new JedisConnectionException("refused"), WHERE, false);

    assertEquals(1, lost.unansweredAttempts());
    assertEquals(0, refused.unansweredAttempts());
    assertEquals(0, notSent.unansweredAttempts());
    assertEquals(1, refused.afterEarlier(lost).unansweredAttempts());
    assertEquals(1, notSent.afterEarlier(lost).unansweredAttempts());
    CommandException lostAgain =
        ErrorClassifier.of(new JedisConnectionException("broken"), WHERE, true);
    assertEquals(2, lostAgain.afterEarlier(lost).unansweredAttempts());
    assertEquals(2, lostAgain.afterEarlier(lost).onServer("second").unansweredAttempts());
  }

  /** As when a node of a cluster repeats an attempt, and the client sends it to another one. */
  @Test
  void aReplyIsAfterAllEarlierTries() {
    CommandException lost =
        ErrorClassifier.of(new JedisConnectionException("broken"), WHERE, true).onServer("first");

    Reply reply = new Reply(0L, null, "second").after(lost.afterEarlier(lost)).after(lost);

    assertEquals(3, reply.earlierAttempts());
    assertEquals(0, new Reply(0L, null, "second").earlierAttempts());
    assertEquals(1, new Reply(0L, reply("MOVED"), "second").earlierAttempts());
  }

  /** Such as a redirection after it, in a cluster. */
  @Test
  void aTryThatWasLostStaysLostAfterAnErrorReply() {
    CommandException lost =
        ErrorClassifier.of(new JedisConnectionException("broken"), WHERE, true).onServer("first");

    assertTrue(new Reply(0L, reply("LOADING").onServer("first"), "second").isFromSameServer());
    assertFalse(new Reply(0L, reply("MOVED").afterEarlier(lost), "second").isFromSameServer());
  }

  private static CommandException reply(String text) {
    return ErrorClassifier.of(new JedisDataException(text), WHERE, true);
  }

  private static void assertReply(String text, Kind reason, String told) {
    CommandException fault = reply(text);
    assertEquals(reason, fault.kind(), fault.getMessage());
    boolean halfWay = reason == Kind.SCRIPT || reason == Kind.ACCESS_DENIED;
    assertEquals(
        halfWay, fault.mayHaveExecuted(), "only these may come from the middle of a script");
    assertTrue(
        fault.getMessage().endsWith(" (" + WHERE + " says: " + told + ")"), fault.getMessage());
  }
}
