package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LeaseSource;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemberGroupTest {
  private static final String LONG_NAME = "n".repeat(1_000);

  /** Returns members with these names; those whose names begin alike go together. */
  private static List<LeaseSource> members(String... names) {
    return List.of(names).stream().map(MemberGroupTest::member).toList();
  }

  private static LeaseSource member(String name) {
    return (LeaseSource)
        Proxy.newProxyInstance(
            LeaseSource.class.getClassLoader(),
            new Class<?>[] {LeaseSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name" -> name;
                  case "canAcquireTogetherWith" ->
                      ((LeaseSource) arguments[0]).name().charAt(0) == name.charAt(0);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  @Test
  void membersOfOneServerGoTogether() {
    List<LeaseSource> members = members("a1", "b1", "a2", "b2", "a3");

    assertEquals(List.of(0, 2, 4), MemberGroup.ofFirst(members, List.of(0, 1, 2, 3, 4)));
    assertEquals(List.of(1, 3), MemberGroup.ofFirst(members, List.of(1, 2, 3, 4)));
  }

  @Test
  void aGroupIsTheFirstOfThemAsFarAsTheyFit() {
    List<LeaseSource> members = IntStream.range(0, 100).mapToObj(i -> member(LONG_NAME)).toList();

    List<Integer> group = MemberGroup.ofFirst(members, IntStream.range(0, 100).boxed().toList());

    assertEquals(IntStream.range(0, 7).boxed().toList(), group);
    assertTrue(group.size() * 2 * LONG_NAME.length() < 16 * 1024);
  }

  @Test
  void aMemberThatIsTooLongGoesAlone() {
    List<LeaseSource> members = members("n".repeat(9_000), "n");

    assertEquals(List.of(0), MemberGroup.ofFirst(members, List.of(0, 1)));
  }
}
