package io.mortise.testkit.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A server without a process and without a socket: it runs the commands of its connections, one
 * after the other, and fails as it is asked to.
 *
 * <p><b>Threads.</b> Any thread may call every public method; its own monitor guards everything,
 * that of the connections' buffers included. A command runs on the thread that writes it. Nothing
 * calls out of the monitor.
 */
public final class MemoryServer {
  /** A fault of the next command that runs a script. */
  public enum ScriptFault {
    /** The connection breaks before the command runs. */
    LOSE_REQUEST,
    /** The command runs, and the connection breaks before the reply. */
    LOSE_REPLY
  }

  private record Request(MemoryConnection from, List<String> words) {}

  private final Keyspace keys;
  private final CommandTable table = new CommandTable();
  private final LuaScripts scripts;
  private final MessageChannels channels = new MessageChannels();
  private final Set<MemoryConnection> connections = new LinkedHashSet<>();
  private final Deque<Object> faults = new ArrayDeque<>();
  private final Deque<Request> held = new ArrayDeque<>();
  private String runId = newRunId();
  private boolean faultsSuspended;
  private boolean paused;
  private boolean closed;

  /** Creates an empty server with that clock, ms since the epoch. */
  public MemoryServer(LongSupplier clockMicros) {
    keys = new Keyspace(clockMicros);
    KeyCommands.addTo(table, keys);
    CollectionCommands.addTo(table, keys);
    SortedSetCommands.addTo(table, keys);
    table.add("PUBLISH", 2, 2, words -> channels.publish(words.get(0), words.get(1)));
    table.add("FLUSHALL", 0, 1, words -> KeyCommands.clear(keys));
    table.add("FLUSHDB", 0, 1, words -> KeyCommands.clear(keys));
    scripts = new LuaScripts(table);
    ServerCommands.addTo(table, scripts, () -> runId);
  }

  private static String newRunId() {
    return (UUID.randomUUID() + "" + UUID.randomUUID()).replace("-", "").substring(0, 40);
  }

  // ---- connections

  /** Opens a connection. */
  public synchronized MemoryConnection connect() {
    MemoryConnection connection = new MemoryConnection(this);
    if (closed) {
      connection.breakNow();
    } else {
      connections.add(connection);
    }
    return connection;
  }

  /** Takes a request; called with the monitor. */
  void accept(MemoryConnection from, List<String> words) {
    if (paused) {
      held.add(new Request(from, words));
    } else {
      answer(from, words);
    }
  }

  /** A connection was closed by its client; called with the monitor. */
  void left(MemoryConnection connection) {
    connections.remove(connection);
    channels.leave(connection);
  }

  private void answer(MemoryConnection from, List<String> words) {
    String name = words.get(0).toUpperCase(Locale.ROOT);
    List<String> rest = words.subList(1, words.size());
    if (name.equals("SUBSCRIBE") || name.equals("SSUBSCRIBE")) {
      rest.forEach(channel -> from.reply(channels.join(from, channel)));
      return;
    } else if (name.equals("UNSUBSCRIBE") || name.equals("SUNSUBSCRIBE")) {
      channels.leave(from, rest).forEach(from::reply);
      return;
    }
    Object fault = runsScript(name, rest) && !faultsSuspended ? faults.poll() : null;
    if (fault == ScriptFault.LOSE_REQUEST) {
      from.breakNow();
      return;
    }
    Object reply = fault instanceof RedisError ? fault : run(words);
    if (fault == ScriptFault.LOSE_REPLY) {
      from.breakNow();
    } else if (name.equals("PING") && channels.isSubscriber(from)) {
      from.reply(List.of("pong", rest.isEmpty() ? "" : rest.get(0)));
    } else {
      from.reply(reply);
    }
  }

  /** Returns whether the command runs a script, and not only asks whether it is known. */
  private boolean runsScript(String name, List<String> words) {
    return name.equals("EVAL")
        || (name.equals("EVALSHA") && !words.isEmpty() && scripts.knows(words.get(0)));
  }

  /** Runs a command, beside all connections; an error is returned. */
  public synchronized @Nullable Object run(List<String> words) {
    keys.readClock();
    try {
      return table.run(words);
    } catch (RedisError e) {
      return e;
    } catch (RuntimeException | StackOverflowError e) { // of a script, or of odd words
      return new RedisError("ERR internal error: " + e);
    }
  }

  /** Runs a command as {@link #run}, and throws if its reply is an error. */
  public @Nullable Object runOrThrow(List<String> words) {
    Object reply = run(words);
    if (reply instanceof RedisError error) {
      throw new IllegalArgumentException(error.reply());
    }
    return reply instanceof Replies.Status status ? status.text() : reply;
  }

  // ---- faults

  /** Breaks the connection of the next command that runs a script. */
  public synchronized void failNextScript(ScriptFault fault) {
    faults.add(fault);
  }

  /** Answers the next command that runs a script by that error; the script does not run. */
  public synchronized void failNextScript(String error) {
    faults.add(new RedisError(error));
  }

  /** Keeps the faults for later commands, or goes on. */
  public synchronized void suspendFaults(boolean suspended) {
    faultsSuspended = suspended;
  }

  /** Breaks all connections; the data stays. */
  public synchronized void breakConnections() {
    for (MemoryConnection connection : new ArrayList<>(connections)) {
      connection.breakNow();
    }
  }

  /** Becomes another process without data, as a server that is restarted without persistence. */
  public synchronized void restartEmpty() {
    breakConnections();
    held.clear();
    keys.clear();
    scripts.flush();
    runId = newRunId();
  }

  /** Answers nothing until {@link #resume}. */
  public synchronized void pause() {
    paused = true;
  }

  /** Runs what has come since {@link #pause}, in its order. */
  public synchronized void resume() {
    paused = false;
    for (Request next = held.poll(); next != null; next = held.poll()) {
      if (next.from().isOpen()) {
        answer(next.from(), next.words());
      } else if (!next.from().isBroken()) {
        run(next.words()); // its client has given up, and the server does not know it yet
      }
    }
  }

  /** Breaks all connections, and accepts no others. */
  public synchronized void close() {
    closed = true;
    breakConnections();
  }
}
