package io.mortise.it.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testkit.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands that a server runs from now on, those inside scripts included (MONITOR). */
final class Monitor implements AutoCloseable {
  private static final String END = "end-of-monitor";

  /** What the server says of a command in a script: {@code +1764.2 [0 lua] "LLEN" "queue"}. */
  private static final Pattern IN_SCRIPT = Pattern.compile("\\+[0-9.]+ \\[\\d+ lua\\] (.*)");

  private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

  private final RedisServer server;
  private final Socket socket;
  private final BufferedReader lines;

  Monitor(RedisServer server) {
    this.server = server;
    try {
      socket = new Socket(server.host(), server.port());
      socket.setSoTimeout(20_000);
      lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
      socket.getOutputStream().write("MONITOR\r\n".getBytes(UTF_8));
      if (!lines.readLine().equals("+OK")) {
        throw new AssertionError("no MONITOR");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the commands in scripts until now, each as its words. */
  List<List<String>> commandsInScripts() {
    server.command("ECHO", END);
    List<List<String>> commands = new ArrayList<>();
    try {
      for (String line = lines.readLine(); !line.contains(END); line = lines.readLine()) {
        Matcher inScript = IN_SCRIPT.matcher(line);
        if (inScript.matches()) {
          commands.add(
              WORD.matcher(inScript.group(1)).results().map(word -> word.group(1)).toList());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return commands;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
