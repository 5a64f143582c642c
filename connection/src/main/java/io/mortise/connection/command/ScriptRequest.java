package io.mortise.connection.command;

import io.mortise.connection.topology.Topology;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * A script with its keys and arguments, as it is sent: for one call, or merged for many calls.
 *
 * @param keys the keys, all of one slot
 */
public record ScriptRequest(Script script, List<byte[]> keys, List<byte[]> arguments) {
  /** The framing of one argument in the protocol: its length, and line ends. */
  private static final int FRAME_BYTES = 8;

  public static ScriptRequest of(ScriptCall call) {
    return new ScriptRequest(call.script(), call.keys(), call.arguments());
  }

  /** Returns one request for all of these calls, which have one script and one slot. */
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

  /** Returns the approximate length on the wire, with the script or its SHA-1. */
  int bytes(byte[] text) {
    return text.length + FRAME_BYTES * 3 + bytes();
  }

  /** Returns the approximate length of the keys and arguments on the wire. */
  int bytes() {
    int sum = 0;
    for (byte[] key : keys) {
      sum += key.length + FRAME_BYTES;
    }
    for (byte[] argument : arguments) {
      sum += argument.length + FRAME_BYTES;
    }
    return sum;
  }

  /** Returns the slot of the keys, which decides which server runs the request. */
  int slot(Topology topology) {
    return topology.slotOf(keys.get(0));
  }

  /**
   * Returns the arguments as Jedis sends them.
   *
   * @param text the script or its SHA-1
   * @param publish replaces {@link ScriptCall#publish()}
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
