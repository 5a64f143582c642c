package io.mortise.connection.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Speaks Redis' protocol, and says what a test has put into its mouth. So what a test sees has gone
 * through the real Jedis and over a real socket.
 */
public final class RespServer implements AutoCloseable {
  /** The reply that ends the connection instead. */
  public static final String HANG_UP = "hang up";

  /** The reply that does not come. */
  public static final String SILENCE = "silence";

  public static final String OK = "+OK\r\n";

  private static final String WELCOME =
      "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n";

  private static final Set<String> GREETINGS = Set.of("CLIENT", "HELLO", "AUTH", "SELECT");

  private final ServerSocket socket;
  private volatile String memory = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
  private volatile String runId = UUID.randomUUID().toString();
  private volatile CountDownLatch reads = new CountDownLatch(0);
  private final Function<List<String>, String> answers;
  private final UnaryOperator<String> welcomes;
  private final String greeting;
  private final List<List<String>> greeted = new CopyOnWriteArrayList<>();
  private final List<List<String>> heard = new CopyOnWriteArrayList<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /**
   * @param answers a reply, with its line ends, for each command that is not part of connecting
   */
  public RespServer(Function<List<String>, String> answers) {
    this("", answers, UnaryOperator.identity());
  }

  /**
   * @param welcomes what becomes of each answer to a command that is part of connecting
   */
  public RespServer(Function<List<String>, String> answers, UnaryOperator<String> welcomes) {
    this("", answers, welcomes);
  }

  private RespServer(
      String greeting, Function<List<String>, String> answers, UnaryOperator<String> welcomes) {
    this.greeting = greeting;
    this.answers = answers;
    this.welcomes = welcomes;
    try {
      socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::accept);
  }

  /** A server that says one thing to everybody who comes, and hangs up. */
  public static RespServer turningAway(String error) {
    return new RespServer(error, command -> HANG_UP, UnaryOperator.identity());
  }

  public static String error(String text) {
    return "-" + text + "\r\n";
  }

  public static String integers(List<Long> numbers) {
    StringBuilder reply = new StringBuilder("*" + numbers.size() + "\r\n");
    numbers.forEach(number -> reply.append(':').append(number).append("\r\n"));
    return reply.toString();
  }

  /** The confirmation of each channel of a SUBSCRIBE, or of another of its family. */
  public static String subscribed(List<String> command) {
    String kind = command.get(0).toLowerCase(Locale.ROOT);
    StringBuilder reply = new StringBuilder();
    command.stream().skip(1).forEach(channel -> reply.append(push(kind, channel, 1)));
    return reply.toString();
  }

  public static String push(String kind, String channel, int count) {
    return ">3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:%d\r\n"
        .formatted(kind.length(), kind, channel.getBytes(UTF_8).length, channel, count);
  }

  /** Returns its {@code run_id}, which the next {@link #restart} changes. */
  public String runId() {
    return runId;
  }

  /** Closes the connections and changes the {@code run_id}, as a restart does. */
  public void restart() throws IOException {
    runId = UUID.randomUUID().toString();
    for (Socket client : open) {
      client.close();
    }
  }

  public String address() {
    return socket.getInetAddress().getHostAddress() + ":" + socket.getLocalPort();
  }

  public String uri() {
    return "redis://" + address();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return open.size();
  }

  /** Returns the first commands of connections: HELLO, SELECT and the like. */
  public List<List<String>> greeted() {
    return greeted;
  }

  /** All other commands. */
  public List<List<String>> heard() {
    return heard;
  }

  private void accept() {
    while (true) {
      try {
        Socket client = socket.accept();
        open.add(client);
        if (socket.isClosed()) { // somebody came in while the door was being shut
          client.close();
        }
        daemon(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      if (!greeting.isEmpty()) {
        client.getOutputStream().write(greeting.getBytes(UTF_8));
        return;
      }
      DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
      boolean introduced = false; // a client's own connection asks last who is there, once
      while (true) {
        if (introduced) {
          Uninterruptibles.awaitUninterruptibly(reads);
        }
        List<String> command = read(in);
        if (socket.isClosed()) { // it was dead when this came, only its thread did not know
          return;
        }
        String reply = introduced ? reply(command) : introduction(command);
        introduced |= command.equals(List.of("INFO", "server"));
        if (reply.equals(HANG_UP)) {
          return;
        }
        if (!reply.equals(SILENCE)) {
          client.getOutputStream().write(reply.getBytes(UTF_8));
        }
      }
    } catch (IOException clientWent) {
      // That is how connections end.
    } finally {
      open.remove(client);
    }
  }

  private String introduction(List<String> command) {
    if (command.get(0).equals("INFO")) {
      greeted.add(command);
      return bulk(
          command.get(1).equals("memory") ? memory : "# Server\r\nrun_id:" + runId + "\r\n");
    }
    return reply(command);
  }

  /** Reads nothing more, on connections from now on, than what is part of connecting. */
  public void suspend() {
    reads = new CountDownLatch(1);
  }

  /** Reads on after {@link #suspend}. */
  public void resume() {
    reads.countDown();
  }

  /** Sets the answer to INFO memory for connections from now on. */
  void memory(long maxmemory, String policy) {
    memory = "# Memory\r\nmaxmemory:%d\r\nmaxmemory_policy:%s\r\n".formatted(maxmemory, policy);
  }

  private String reply(List<String> command) {
    if (GREETINGS.contains(command.get(0))) {
      greeted.add(command);
      return welcomes.apply(command.get(0).equals("HELLO") ? WELCOME : OK);
    }
    heard.add(command);
    return answers.apply(command);
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  private static List<String> read(DataInputStream in) throws IOException {
    int size = length(in);
    List<String> command = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      byte[] word = in.readNBytes(length(in));
      in.readNBytes(2);
      command.add(new String(word, UTF_8));
    }
    return command;
  }

  private static int length(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    in.readByte();
    for (byte b = in.readByte(); b != '\n'; b = in.readByte()) {
      line.append((char) b);
    }
    return Integer.parseInt(line.toString().trim());
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "resp-server");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    resume();
    try {
      socket.close();
      for (Socket client : open) {
        client.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
