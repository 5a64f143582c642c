package io.mortise.it.inspection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.RedisLock;
import io.mortise.testkit.RedisServer;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The inspection of a hash of somebody else, which may have any number of fields. */
@Timeout(60)
@Tag("redis-version")
class LargeHashTest {
  private static final String FIELDS =
      "for i = 1, tonumber(ARGV[1]) do redis.call('HSET', KEYS[1],"
          + " '9f8e7d6c-0000-4000-8000-000000000002:' .. i, ARGV[2]) end return 1";

  @AutoClose private final RedisServer server = RedisServer.start();
  @AutoClose private final LockClient client = LockClient.create(server.uri());

  private void fill(int fields, String value) {
    server.command("EVAL", FIELDS, "1", "large", Integer.toString(fields), value);
  }

  @Test
  void ofALargeHashOnlyAPartIsRead() {
    fill(50_000, "1");
    server.resetStats();

    LockInspection found = new RedisLock(client, "large").inspect();

    assertFalse(found.isComplete());
    assertEquals(Mode.EXCLUSIVE, found.mode());
    assertTrue(found.holders().size() <= 1_000, () -> found.holders().size() + " are returned");
    assertTrue(found.holders().size() > 0);
    Map<String, Long> commands = server.commandStats();
    assertNull(commands.get("hgetall"), commands::toString);
    assertEquals(1L, commands.get("hscan"), commands::toString);
  }

  @Test
  void theModeOfALargeReadWriteLockIsFound() {
    fill(50_000, "text");
    server.command("HSET", "large", "mode", "read");

    assertEquals(Mode.READ, new RedisLock(client, "large").inspect().mode());
  }

  @Test
  void aHashOfAThousandFieldsIsReadAsAWhole() {
    fill(1_000, "1");

    LockInspection found = new RedisLock(client, "large").inspect();

    assertTrue(found.isComplete());
    assertEquals(1_000, found.holders().size());
  }

  @Test
  void aFieldWithAnotherValueThanACountIsOfNoLibrary() {
    fill(1, "Ada");

    LockInspection found = new RedisLock(client, "large").inspect();

    assertEquals(Library.UNKNOWN, found.holders().get(0).library());
    assertEquals(1, found.holders().get(0).holdCount());
  }
}
