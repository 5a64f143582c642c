package io.mortise.connection.command;

import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * A script as it is sent: for one call, or for many that it answers together.
 *
 * @param keys all of one slot
 */
public record ScriptRequest(Script script, List<byte[]> keys, List<byte[]> arguments) {
  /** What the protocol needs around a word: its length, and line ends. */
  private static final int FRAME = 8;

  public static ScriptRequest of(ScriptCall call) {
    return new ScriptRequest(call.script(), call.keys(), call.arguments());
  }

  /** One request for all of these; they are of one script and one slot. */
  public static ScriptRequest merged(List<ScriptCall> items) {
    Script script = items.get(0).script();
    List<byte[]> keys = new ArrayList<>(items.size() * script.keys());
    List<byte[]> arguments = new ArrayList<>(items.size() * script.arguments());
    for (ScriptCall item : items) {
      keys.addAll(item.keys());
      arguments.addAll(item.arguments());
    }
    return new ScriptRequest(script, keys, arguments);
  }

  /**
   * About how long it is on the wire.
   *
   * @param text the script or its SHA-1
   */
  int bytes(byte[] text) {
    int sum = text.length + FRAME * 3;
    for (byte[] key : keys) {
      sum += key.length + FRAME;
    }
    for (byte[] argument : arguments) {
      sum += argument.length + FRAME;
    }
    return sum;
  }

  /** By the key that decides on the server. */
  byte[] firstKey() {
    return keys.get(0);
  }

  /**
   * As Jedis sends it.
   *
   * @param text the script or its SHA-1
   * @param publish what stands for {@link ScriptCall#publish()}
   */
  CommandArguments arguments(Command command, byte[] text, byte[] publish) {
    CommandArguments all = new CommandArguments(command).add(text).add(keys.size());
    for (byte[] key : keys) {
      all.key(key);
    }
    for (byte[] argument : arguments) {
      all.add(ScriptCall.isPublish(argument) ? publish : argument);
    }
    return all;
  }
}
