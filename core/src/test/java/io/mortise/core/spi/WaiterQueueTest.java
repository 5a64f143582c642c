package io.mortise.core.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A query names a bounded number of waiters, and the position is that of the first of all. */
class WaiterQueueTest {
  private static final int MOST_IN_A_QUERY = 200;

  private final WaiterQueue queue =
      new WaiterQueue(new LockName("orders"), new WaiterTimeout(Duration.ofSeconds(10)));
  private final List<List<String>> queries = new ArrayList<>();

  private static List<String> waiters(int number) {
    return IntStream.range(0, number).mapToObj(i -> "w" + i).toList();
  }

  /** Asks a server at which these waiters have these positions, and no others have any. */
  private OptionalLong positionOfFirst(List<String> waiters, Map<String, Long> positions) {
    return queue.positionOfFirst(waiters, call -> answer(call, positions));
  }

  private List<Long> answer(ScriptCall call, Map<String, Long> positions) {
    List<String> named = List.of(new String(call.arguments().get(0), UTF_8).split(" ", -1));
    queries.add(named);
    long first =
        named.stream().filter(positions::containsKey).mapToLong(positions::get).min().orElse(-1);
    return List.of(1_000L, first);
  }

  @Test
  void theFirstMayBeNamedByAnyOfTheQueries() {
    List<String> waiters = waiters(450);
    for (String first : List.of("w0", "w199", "w200", "w399", "w400", "w449")) {
      queries.clear();
      Map<String, Long> positions = Map.of("w10", 70L, "w210", 71L, "w410", 72L, first, 3L);

      assertEquals(OptionalLong.of(3), positionOfFirst(waiters, positions), first);

      assertEquals(waiters, queries.stream().flatMap(List::stream).toList(), "each is named once");
      assertTrue(queries.stream().allMatch(query -> query.size() <= MOST_IN_A_QUERY));
    }
  }

  @Test
  void theHeadHasPositionZero() {
    assertEquals(OptionalLong.of(0), positionOfFirst(waiters(201), Map.of("w200", 0L)));
  }

  @Test
  void noneOfThemWaits() {
    assertEquals(OptionalLong.empty(), positionOfFirst(waiters(450), Map.of()));
    assertEquals(3, queries.size());
  }

  @Test
  void withoutWaitersNothingIsAsked() {
    assertEquals(OptionalLong.empty(), positionOfFirst(List.of(), Map.of()));
    assertEquals(List.of(), queries);
  }
}
