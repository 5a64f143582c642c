package io.mortise.it.support;

import io.mortise.testkit.RedisServer;
import java.util.List;

/**
 * The records that clients write of themselves after some seconds of use: a test that takes that
 * long, and looks at all keys of a server, names them by this class.
 */
public final class ClientRecords {
  private static final String PREFIX = "mortise_client:";

  private ClientRecords() {}

  /** Returns whether the key is such a record. */
  public static boolean isRecord(String key) {
    return key.startsWith(PREFIX);
  }

  /** Returns the key of the record of that client. */
  public static String keyOf(String clientId) {
    return PREFIX + clientId;
  }

  /** Returns how many keys the server has beside such records. */
  public static long otherKeys(RedisServer server) {
    return ((List<?>) server.command("KEYS", "*"))
        .stream().filter(key -> !isRecord((String) key)).count();
  }
}
