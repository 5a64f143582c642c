package io.mortise.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.ImmutableSet;
import com.google.common.graph.Graph;
import com.google.common.graph.GraphBuilder;
import com.google.common.graph.MutableGraph;
import com.google.common.graph.Traverser;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rules for each source file: no cycle with another, its threads, its clock, few lines. */
class FilesTest {
  /** The files that are halves of one thing, and know each other (decision 032). */
  private static final Set<Set<String>> HALVES =
      Set.of(
          Set.of(
              "core.LockClient",
              "core.internal.engine.RedisLockClient",
              "core.RedisLock",
              "core.spi.ProtocolLeaseSource",
              "core.internal.engine.RedisLeaseSource"),
          Set.of(
              "connection.pubsub.NodeChannels",
              "connection.pubsub.NodeSubscriber",
              "connection.pubsub.WakeupChannel"),
          Set.of("testkit.FaultProxy", "testkit.ProxyConnection", "testkit.ProxyFaults"),
          Set.of("testkit.HoldLog", "testkit.HoldLogFile"),
          Set.of(
              "testkit.memory.MemoryConnection",
              "testkit.memory.MemoryServer",
              "testkit.memory.MessageChannels"));

  /** A loss tells its age to the user, by the clock that it is documented to have. */
  private static final Set<String> READS_THE_CLOCK = Set.of("core.LeaseLoss");

  private static final int MAX_LINES = 300;

  /** The longer files, and why each of them is not two. */
  private static final Map<String, String> LONGER =
      Map.of(
          "DistributedLock", "an interface: more than half of it is its documentation",
          "LockEvent", "one accessor and one builder method for each fact, with its documentation",
          "SegmentedLock", "one method for each way to acquire, with its documentation",
          "RedisServer", "a line each for users, with its documentation, and a builder",
          "CompositeLease", "implements each method of OwnedLease, most of them in one line",
          "RedisLease", "implements each method of OwnedLease and RegisteredHold, most in a line",
          "NodeSubscriber", "one argument about the order of messages covers all its methods");

  private static final List<String> LIBRARIES =
      List.of(
          "scripts",
          "connection",
          "core",
          "fairlock",
          "rwlock",
          "multilock",
          "redlock",
          "segmentedlock",
          "fencing",
          "micrometer",
          "spring-boot-starter",
          "testkit");

  /** The declaration of a class that is no exception and no event of a flight recording. */
  private static final Pattern CLASS =
      Pattern.compile(
          "(?m)^(?:public |abstract |final |sealed )*class (?!.* extends"
              + " \\w*(?:Exception|Error|Event)\\b)");

  /** An edge from each file to each file that it uses. */
  private static Graph<String> uses() {
    MutableGraph<String> uses = GraphBuilder.directed().allowsSelfLoops(true).build();
    for (JavaClass type : ProductClasses.ALL) {
      type.getDirectDependenciesFromSelf().stream()
          .filter(arrow -> arrow.getTargetClass().getPackageName().startsWith(ProductClasses.ROOT))
          .filter(arrow -> !arrow.getTargetClass().isArray())
          .forEach(
              arrow ->
                  uses.putEdge(
                      ProductClasses.file(type), ProductClasses.file(arrow.getTargetClass())));
    }
    return uses;
  }

  @Test
  void filesDoNotUseEachOther() {
    Graph<String> uses = uses();
    Traverser<String> traverser = Traverser.forGraph(uses);
    Map<String, Set<String>> reached =
        uses.nodes().stream()
            .collect(
                Collectors.toMap(
                    file -> file, file -> ImmutableSet.copyOf(traverser.breadthFirst(file))));
    Set<Set<String>> cycles =
        reached.entrySet().stream()
            .map(
                entry ->
                    entry.getValue().stream()
                        .filter(other -> reached.get(other).contains(entry.getKey()))
                        .collect(Collectors.toCollection(TreeSet::new)))
            .filter(cycle -> cycle.size() > 1)
            .collect(Collectors.toSet());

    assertEquals(HALVES, cycles);
  }

  @Test
  void timeComesFromATicker() {
    List<String> readers =
        ProductClasses.ALL.stream()
            .filter(type -> !type.getPackageName().startsWith(ProductClasses.ROOT + "testkit"))
            .flatMap(type -> type.getAccessesFromSelf().stream())
            .filter(FilesTest::readsTheClock)
            .map(call -> ProductClasses.file(call.getOriginOwner()))
            .filter(file -> !READS_THE_CLOCK.contains(file))
            .distinct()
            .sorted()
            .toList();

    assertEquals(List.of(), readers);
  }

  @Test
  void aFileOfManyLinesHasAReason() throws IOException {
    Set<String> longer = new TreeSet<>();
    for (Path file : SourceFiles.ofMainCode()) {
      if (Files.readAllLines(file).size() > MAX_LINES) {
        longer.add(file.getFileName().toString().replace(".java", ""));
      }
    }

    assertEquals(new TreeSet<>(LONGER.keySet()), longer);
  }

  /**
   * One thread uses an exception or a recorded event; JUnit runs contracts; records are immutable.
   */
  @Test
  void aClassSaysWhichThreadsMayCallIt() throws IOException {
    List<String> silent = new ArrayList<>();
    for (Path file : SourceFiles.ofMainCode()) {
      String source = isOfALibrary(file) ? Files.readString(file) : "";
      if (CLASS.matcher(source).find() && !source.contains("<b>Threads.</b>")) {
        silent.add(file.getFileName().toString());
      }
    }

    assertEquals(List.of(), silent);
  }

  private static boolean isOfALibrary(Path file) {
    return LIBRARIES.stream().anyMatch(module -> file.startsWith("../" + module))
        && !file.toString().endsWith("Contract.java");
  }

  private static boolean readsTheClock(JavaAccess<?> call) {
    String owner = call.getTargetOwner().getName();
    return (owner.equals("java.lang.System")
            && Set.of("nanoTime", "currentTimeMillis").contains(call.getName()))
        || (owner.startsWith("java.time.") && call.getName().equals("now"));
  }
}
