package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The members that a thread owns, when memory runs out in the middle of their release. */
class ThreadModeTest {
  private final List<String> calls = new ArrayList<>();
  private final List<LeaseSource> members =
      List.of(source("first"), source("second"), source("last"));

  private static LeaseSource source(String name) {
    return (LeaseSource)
        Proxy.newProxyInstance(
            LeaseSource.class.getClassLoader(),
            new Class<?>[] {LeaseSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name", "toString", "identity" -> name;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private OwnedLease lease(String name) {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) -> {
              calls.add(method.getName() + " " + name);
              return null;
            });
  }

  @Test
  void theThreadHasExitedAllMembersAndNoneIsRenewed() {
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);
    for (LeaseSource member : members) {
      ThreadOwnership.register(member, lease(member.name()), terms);
    }
    calls.clear();
    List<LeaseSource> failing =
        new AbstractList<>() {
          private boolean failed;

          @Override
          public LeaseSource get(int place) {
            if (place == 1 && !failed) {
              failed = true;
              throw new OutOfMemoryError("on purpose");
            }
            return members.get(place);
          }

          @Override
          public int size() {
            return members.size();
          }
        };

    assertThrows(OutOfMemoryError.class, () -> new ThreadMode().release(failing, List.of()));

    for (LeaseSource member : members) {
      assertTrue(ThreadOwnership.leaseOf(member.identity()).isEmpty(), member.name());
    }
    assertEquals(List.of("stopRenewal first", "stopRenewal second", "stopRenewal last"), calls);
  }
}
