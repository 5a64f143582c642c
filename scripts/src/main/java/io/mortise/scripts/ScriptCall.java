package io.mortise.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;

/**
 * A script with its keys and arguments, encoded and counted: one call, or one item of a batch.
 *
 * @param script the script
 * @param keys the keys, all of one hash slot
 * @param arguments the other arguments
 */
public record ScriptCall(Script script, List<byte[]> keys, List<byte[]> arguments) {
  /** Compared by identity. */
  private static final byte[] PUBLISH = bytes("PUBLISH");

  /** Checks the numbers of keys and arguments against the script. */
  public ScriptCall {
    keys = List.copyOf(keys);
    arguments = List.copyOf(arguments);
    if (keys.size() != script.keys() || arguments.size() != script.arguments()) {
      throw new IllegalArgumentException(
          "script '%s' takes %d keys and %d arguments, not %d and %d"
              .formatted(script, script.keys(), script.arguments(), keys.size(), arguments.size()));
    }
  }

  /**
   * Returns the argument that is a placeholder for the command with which the script publishes:
   * {@code PUBLISH}, or {@code SPUBLISH} on a cluster whose servers support it.
   */
  public static byte[] publish() {
    return PUBLISH;
  }

  /** Returns whether that argument is {@link #publish()}. */
  public static boolean isPublish(byte[] argument) {
    return argument == PUBLISH;
  }

  /** Returns a text in the encoding of Redis. */
  public static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Returns the text of a reply, which Redis gives as bytes. */
  public static String text(Object reply) {
    return new String((byte[]) reply, UTF_8);
  }

  /** Returns a number in the encoding of Redis. */
  public static byte[] bytes(long number) {
    return Long.toString(number).getBytes(UTF_8);
  }
}
