package io.mortise.connection.testing;

import static io.mortise.connection.testing.RespServer.error;

import io.mortise.connection.pool.ConnectionSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Nodes that say they are a cluster. Each has an equal share of the slots, until a test says
 * otherwise; what it answers to scripts is the test's too.
 */
public final class FakeCluster implements AutoCloseable {
  public static final String NO_SHARDS =
      error("ERR Unknown subcommand or wrong number of arguments");

  public static final String SHARDS = "*0\r\n";

  private final List<RespServer> nodes = new ArrayList<>();
  private final Map<Integer, Function<List<String>, String>> answers = new ConcurrentHashMap<>();
  private final Map<Integer, int[]> told = new ConcurrentHashMap<>();
  private final Map<Integer, String> infos = new ConcurrentHashMap<>();
  private final Map<Integer, String> shards = new ConcurrentHashMap<>();

  public FakeCluster(int count) {
    int[] shares = new int[count];
    for (int i = 0; i < count; i++) {
      int node = i;
      shares[i] = i;
      nodes.add(new RespServer(command -> answer(node, command)));
    }
    tell(shares);
  }

  private String answer(int node, List<String> command) {
    return switch (command.get(0)) {
      case "CLUSTER" ->
          command.get(1).equals("INFO")
              ? bulk(infos.getOrDefault(node, info("ok", 0)))
              : slots(told.get(node));
      case "PUBSUB" -> shards.getOrDefault(node, SHARDS);
      case "PING" -> "+PONG\r\n";
      case "ASKING" -> RespServer.OK;
      default -> answers.getOrDefault(node, any -> ":" + node + "\r\n").apply(command);
    };
  }

  /** Sets the reply of all nodes: the owner of each share of the slots, -1 for none. */
  public void tell(int... owners) {
    for (int node = 0; node < nodes.size(); node++) {
      tellBy(node, owners);
    }
  }

  /** Sets the reply of one node. */
  public void tellBy(int node, int... owners) {
    told.put(node, owners);
  }

  private static String info(String state, long epoch) {
    return "cluster_state:%s\r\ncluster_current_epoch:%d\r\n".formatted(state, epoch);
  }

  /**
   * Sets what one node reports of itself.
   *
   * @param state ok, or fail when it does not reach most masters
   */
  public void stateBy(int node, String state, long epoch) {
    infos.put(node, info(state, epoch));
  }

  /** Sets the reply of all nodes to the question whether they know sharded channels. */
  public void tellOfShards(String answer) {
    for (int node = 0; node < nodes.size(); node++) {
      tellOfShardsBy(node, answer);
    }
  }

  /** Sets that of one node. */
  public void tellOfShardsBy(int node, String answer) {
    shards.put(node, answer);
  }

  /** Sets the replies of a node; by default it replies with its number. */
  public void answer(int node, Function<List<String>, String> answer) {
    answers.put(node, answer);
  }

  private String slots(int[] owners) {
    StringBuilder reply = new StringBuilder();
    int ranges = 0;
    for (int share = 0; share < owners.length; share++) {
      if (owners[share] >= 0) {
        ranges++;
        int first = share * Protocol.CLUSTER_HASHSLOTS / owners.length;
        int last = (share + 1) * Protocol.CLUSTER_HASHSLOTS / owners.length - 1;
        reply.append("*3\r\n:%d\r\n:%d\r\n*3\r\n".formatted(first, last));
        String[] address = node(owners[share]).address().split(":", -1);
        reply.append(bulk(address[0])).append(":").append(address[1]).append("\r\n");
        reply.append(bulk("id-" + owners[share]));
      }
    }
    return "*" + ranges + "\r\n" + reply;
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  public String moved(String key, int to) {
    return error("MOVED %d %s".formatted(JedisClusterCRC16.getSlot(key), node(to).address()));
  }

  public String ask(String key, int to) {
    return error("ASK %d %s".formatted(JedisClusterCRC16.getSlot(key), node(to).address()));
  }

  public RespServer node(int number) {
    return nodes.get(number);
  }

  /** A name in the share of the slots that this node has at the start. */
  public String nameAt(int node, int number) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "lock%d-%d".formatted(number, i))
        .filter(
            name ->
                JedisClusterCRC16.getSlot(name) * nodes.size() / Protocol.CLUSTER_HASHSLOTS == node)
        .findFirst()
        .orElseThrow();
  }

  /** Returns the commands that a node has got, without the questions about the cluster. */
  public List<String> said(int node) {
    return node(node).heard().stream()
        .map(command -> command.get(0))
        .filter(verb -> !List.of("CLUSTER", "PUBSUB").contains(verb))
        .toList();
  }

  /** How often any of them was asked who has which slots. */
  public long timesAsked() {
    return nodes.stream()
        .flatMap(node -> node.heard().stream())
        .filter(command -> command.contains("SLOTS"))
        .count();
  }

  /** How often that verb was said to all nodes together. */
  public long heard(String verb) {
    return nodes.stream()
        .flatMap(node -> node.heard().stream())
        .filter(command -> command.get(0).equals(verb))
        .count();
  }

  /** A URI that names these nodes, or all. */
  public String uri(int... seeds) {
    int[] some = seeds.length == 0 ? IntStream.range(0, nodes.size()).toArray() : seeds;
    return Arrays.stream(some)
        .mapToObj(seed -> node(seed).address())
        .collect(Collectors.joining(",", "redis-cluster://", ""));
  }

  @Override
  public void close() {
    nodes.forEach(RespServer::close);
  }

  /** Options by which a command may take so long. */
  public static ConnectionSettings within(long nanos) {
    return TestSettings.within(Duration.ofNanos(nanos));
  }
}
