package io.mortise.core.internal.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProbeNamesTest {
  private static LockOptions namespace(String namespace) {
    return LockOptions.builder().namespace(namespace).build();
  }

  @Test
  void aNamespaceWithAHashTagHasOneNameToTry() {
    LockOptions options = namespace("{billing}:");
    List<LockName> tried = new ArrayList<>();

    Optional<LockName> found =
        ProbeNames.find(
            options,
            "me",
            name -> {
              tried.add(name);
              return false;
            });

    assertTrue(ProbeNames.isPinned(options));
    assertEquals(Optional.empty(), found);
    assertEquals(List.of(new LockName("{billing}:mortise-ping:me:0")), tried);
  }

  @Test
  void withoutAHashTagNamesAreTriedUntilOneIsThere() {
    LockOptions options = namespace("billing:");

    Optional<LockName> found =
        ProbeNames.find(options, "me", name -> name.value().endsWith(":me:12"));

    assertFalse(ProbeNames.isPinned(options));
    assertEquals(Optional.of(new LockName("billing:mortise-ping:me:12")), found);
  }

  @Test
  void aTagThatIsEmptyPinsNothing() {
    assertFalse(ProbeNames.isPinned(LockOptions.defaults()));
  }
}
