package io.mortise.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages and the direction of every arrow between them; docs/architecture.md draws them. */
class RoomsTest {
  /**
   * Packages, lowest layer first. Each package may use those before it, as far as its module lets
   * it.
   */
  private static final List<String> ROOMS =
      List.of(
          "scripts",
          "connection.concurrent",
          "connection.pool",
          "connection.pipeline",
          "connection.topology",
          "connection.command",
          "connection.pubsub",
          "core",
          "core.spi",
          "core.internal.event",
          "core.internal.lease",
          "core.internal.inspect",
          "core.composite",
          "core.internal.handoff",
          "core.internal.acquire",
          "core.internal.engine",
          "fairlock",
          "rwlock",
          "multilock",
          "redlock",
          "segmentedlock",
          "fencing",
          "micrometer",
          "spring.boot.internal",
          "spring.boot",
          "spring.boot.locked",
          "spring.boot.actuate",
          "spring.boot.integration",
          "spring.boot.autoconfigure",
          "testkit.memory",
          "testkit");

  /**
   * The arrows that point up: two factories of the API, and the plain lock, which lives beside the
   * API and is made as every other lock (decision 032).
   */
  private static final Map<String, Set<String>> UP =
      Map.of(
          "core.LockClient", Set.of("core.internal.engine"),
          "core.spi.ProtocolLeaseSource", Set.of("core.internal.engine"),
          "core.RedisLock", Set.of("core.spi"));

  /** The lock families stand side by side. */
  private static final Set<String> FAMILIES =
      Set.of("fairlock", "rwlock", "multilock", "redlock", "segmentedlock");

  /** All segments at once are a MultiLock (decision 051). */
  private static final String ALL_SEGMENTS = "segmentedlock.SegmentedLock -> multilock.MultiLock";

  private static String room(JavaClass type) {
    return type.getPackageName().substring(ProductClasses.ROOT.length());
  }

  private static String text(Dependency arrow) {
    return ProductClasses.file(arrow.getOriginClass())
        + " -> "
        + ProductClasses.file(arrow.getTargetClass());
  }

  private static Stream<Dependency> arrows() {
    return ProductClasses.ALL.stream()
        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
        .filter(arrow -> arrow.getTargetClass().getPackageName().startsWith(ProductClasses.ROOT))
        .filter(arrow -> !room(arrow.getOriginClass()).equals(room(arrow.getTargetClass())));
  }

  @Test
  void everyPackageIsARoomAndEveryRoomHasClasses() {
    Set<String> found =
        ProductClasses.ALL.stream()
            .map(RoomsTest::room)
            .collect(Collectors.toCollection(TreeSet::new));

    assertEquals(new TreeSet<>(ROOMS), found);
  }

  @Test
  void arrowsPointDown() {
    List<String> up =
        arrows()
            .filter(
                arrow ->
                    ROOMS.indexOf(room(arrow.getTargetClass()))
                        > ROOMS.indexOf(room(arrow.getOriginClass())))
            .filter(
                arrow ->
                    !UP.getOrDefault(ProductClasses.file(arrow.getOriginClass()), Set.of())
                        .contains(room(arrow.getTargetClass())))
            .map(RoomsTest::text)
            .distinct()
            .sorted()
            .toList();

    assertEquals(List.of(), up);
  }

  @Test
  void theArrowsThatMayPointUpAreThere() {
    UP.forEach(
        (origin, rooms) ->
            rooms.forEach(
                room ->
                    assertTrue(
                        arrows()
                            .anyMatch(
                                arrow ->
                                    ProductClasses.file(arrow.getOriginClass()).equals(origin)
                                        && room(arrow.getTargetClass()).equals(room)),
                        () ->
                            origin + " does not use " + room + " any more: take it off the list")));
  }

  @Test
  void noLockFamilyKnowsAnother() {
    assertEquals(List.of(ALL_SEGMENTS), familiesUses(FAMILIES::contains));
  }

  @Test
  void noLockFamilyKnowsTheInsideOfTheEngine() {
    assertEquals(
        List.of(),
        familiesUses(room -> room.startsWith("core.internal") || room.startsWith("connection")));
  }

  private static List<String> familiesUses(Predicate<String> rooms) {
    return arrows()
        .filter(arrow -> FAMILIES.contains(room(arrow.getOriginClass())))
        .filter(arrow -> rooms.test(room(arrow.getTargetClass())))
        .map(RoomsTest::text)
        .distinct()
        .toList();
  }
}
