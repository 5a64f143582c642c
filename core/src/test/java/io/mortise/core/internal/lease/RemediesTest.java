package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** What a report says should be done about the errors that servers really write. */
class RemediesTest {
  private static final String RIGHTS = "docs/wire.md";

  private static CommandException reply(String error) {
    return ErrorClassifier.of(new JedisDataException(error), "redis.example:6379", true);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "OOM command not allowed when used memory > 'maxmemory'. | raise maxmemory",
        "@user_script: 23: -OOM command not allowed when used memory > 'maxmemory'. | maxmemory",
        "READONLY You can't write against a read only replica. | name its master",
        "@user_script: 23: -READONLY You can't write against a read only replica. | its master",
        "MISCONF Redis is configured to save RDB snapshots, but it's unable to persist | its log",
        "NOREPLICAS Not enough good replicas to write. | min-replicas-to-write",
        "CLUSTERDOWN Hash slot not served | each slot",
        "LOADING Redis is loading the dataset in memory | wait",
        "BUSY Redis is busy running a script. | ask again",
        "WRONGPASS invalid username-password pair or user is disabled. | user and password",
        "NOAUTH Authentication required. | user and password",
        "DENIED Redis is running in protected mode | give the server a password",
        "WRONGTYPE Operation against a key holding the wrong kind of value | a namespace",
        "MOVED 42 127.0.0.1:6380 | several of its nodes in the URI",
        "ERR This instance has cluster support disabled | use redis://, with one host",
        "ERR DB index is out of range | the number at the end of the URI",
        "ERR SELECT is not allowed in cluster mode | the number at the end of the URI",
        "ERR max number of clients reached | its maxclients",
        "ERR Script attempted to execute a command while the cluster is down | each slot",
      })
  void anErrorThatIsNoMissingRightDoesNotSendTheUserToTheRights(String error, String part) {
    String remedy = Remedies.of(reply(error));

    assertTrue(remedy.contains(part), remedy);
    assertFalse(remedy.contains(RIGHTS), remedy);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "NOPERM User asking has no permissions to run the 'hset' command",
        "@user_script: 23: The user executing the script can't run this command or subcommand",
        "NOPERM No permissions to access a key",
      })
  void aMissingRightDoes(String error) {
    assertTrue(Remedies.of(reply(error)).contains(RIGHTS));
  }

  @Test
  void aSlotWithoutANodeIsAMatterOfTheCluster() {
    CommandException fault =
        new CommandException(Kind.NOT_READY, false, "no node of the cluster has slot 7", null);

    assertTrue(Remedies.of(fault).contains("each slot"));
  }

  @Test
  void aProcessWithoutAnotherSocketIsNotSentToTheServer() {
    SocketException full = new SocketException("Too many open files");
    JedisConnectionException ofAnAddress = new JedisConnectionException("connecting to x failed");
    ofAnAddress.addSuppressed(full);

    for (JedisConnectionException failure :
        List.of(new JedisConnectionException("connecting to x failed", full), ofAnAddress)) {
      CommandException fault = ErrorClassifier.of(failure, "x", false);

      assertTrue(Remedies.of(fault).contains("ulimit -n"), fault::getMessage);
    }
  }

  @Test
  void aTimeOutIsAboutTimeAndARefusedConnectionIsNot() {
    CommandException timeOut =
        ErrorClassifier.of(
            new JedisConnectionException(new SocketTimeoutException("Read timed out")), "x", true);
    CommandException refused =
        ErrorClassifier.of(new JedisConnectionException("refused"), "x", false);

    assertTrue(Remedies.of(timeOut).contains("commandTimeout"));
    assertTrue(Remedies.of(refused).contains("whether the server runs"));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void everyKindHasARemedy(Kind kind) {
    assertFalse(Remedies.of(new CommandException(kind, false, "fact", null)).isBlank());
  }
}
