package io.mortise.it.contract;

import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The rights that docs/wire.md says a user needs: rules of {@code ACL SETUSER}, one by one. */
public final class Rights {
  /** The placeholder of the document for the names of the user's locks. */
  private static final String NAMES = "orders:";

  /** The blocks of the document, in their order. */
  private static final int FAIR = 1;

  private static final int READ_WRITE = 2;
  private static final int SEGMENTED = 3;
  private static final int CLUSTER = 4;
  private static final int CLUSTER_OF_REDIS_7 = 5;
  private static final int INSPECTION = 7;

  private Rights() {}

  /** Returns the rights for a plain lock, with lock names of that prefix. */
  public static List<String> documented(String prefix) throws IOException {
    return blocks(prefix).get(0);
  }

  /** Returns the rights for plain and fair locks. */
  public static List<String> ofFairLocks(String prefix) throws IOException {
    List<String> rules = documented(prefix);
    rules.addAll(blocks(prefix).get(FAIR));
    return rules;
  }

  /** Returns the rights for plain, fair and read-write locks. */
  public static List<String> ofReadWriteLocks(String prefix) throws IOException {
    List<String> rules = ofFairLocks(prefix);
    rules.addAll(blocks(prefix).get(READ_WRITE));
    return rules;
  }

  /** Returns the rights for plain, fair and segmented locks. */
  public static List<String> ofSegmentedLocks(String prefix) throws IOException {
    List<String> rules = ofFairLocks(prefix);
    rules.addAll(blocks(prefix).get(SEGMENTED));
    return rules;
  }

  /** Returns the rights for locks of all families. */
  public static List<String> ofAllFamilies(String prefix) throws IOException {
    List<String> rules = ofFairLocks(prefix);
    rules.addAll(blocks(prefix).get(READ_WRITE));
    rules.addAll(blocks(prefix).get(SEGMENTED));
    return rules;
  }

  /** Returns the additional rights for questions: who holds a lock, and on which host. */
  public static List<String> ofInspections() throws IOException {
    return blocks("").get(INSPECTION);
  }

  /**
   * Returns the additional rights on a cluster.
   *
   * @param server the rights to sharded channels are left out if it does not know them
   */
  public static List<String> onACluster(RedisServer server) throws IOException {
    List<List<String>> blocks = blocks("");
    List<String> rules = new ArrayList<>(blocks.get(CLUSTER));
    if (hasShardedChannels(server)) {
      rules.addAll(blocks.get(CLUSTER_OF_REDIS_7));
    }
    return rules;
  }

  /** Asks for the command: Valkey numbers its versions otherwise. */
  public static boolean hasShardedChannels(RedisServer server) {
    return ((List<?>) server.command("COMMAND", "INFO", "SPUBLISH")).get(0) != null;
  }

  private static List<List<String>> blocks(String prefix) throws IOException {
    List<String> document = Files.readAllLines(Path.of("..", "docs", "wire.md"));
    List<List<String>> blocks = new ArrayList<>();
    boolean inBlock = false;
    for (String line : document.subList(document.indexOf("## Rights") + 1, document.size())) {
      boolean indented = line.startsWith("    ");
      if (indented) {
        if (!inBlock) {
          blocks.add(new ArrayList<>());
        }
        String[] rules = line.trim().replace(NAMES, prefix).split(" +", -1);
        blocks.get(blocks.size() - 1).addAll(Arrays.asList(rules));
      }
      inBlock = indented;
    }
    if (!blocks.get(0).contains("~" + prefix + "*")) {
      throw new AssertionError("docs/wire.md has no rights for ~" + NAMES + "*: " + blocks);
    }
    return blocks;
  }
}
