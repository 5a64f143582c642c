package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** In which order members are acquired, and which are held during a wait. */
class MultiAcquisitionTest {
  private final List<String> steps = new ArrayList<>();
  private final LeaseSource first = source("first");
  private final LeaseSource last = source("last");

  /** Whether the next attempts are granted, by the order in which they come. */
  private final Deque<Boolean> grants = new ArrayDeque<>();

  private static LeaseSource source(String name) {
    return (LeaseSource)
        Proxy.newProxyInstance(
            LeaseSource.class.getClassLoader(),
            new Class<?>[] {LeaseSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name", "toString" -> name;
                  case "options" -> LockOptions.defaults();
                  case "nanoTime" -> System.nanoTime();
                  case "joins" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static OwnedLease lease() {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }

  /** Grants what the test says, and ends the acquisition when that is used up. */
  private final class Script implements MemberMode {
    @Override
    public boolean ownsByThread() {
      return false;
    }

    @Override
    public boolean isHeldByThread(LeaseSource member) {
      return false;
    }

    @Override
    public @Nullable OwnedLease acquire(LeaseSource member, LeaseTerms terms)
        throws InterruptedException {
      steps.add((terms.waitNanos() > 1 ? "wait for " : "try ") + member.name());
      if (grants.isEmpty()) {
        throw new InterruptedException();
      }
      return grants.remove() ? lease() : null;
    }

    @Override
    public GroupAttemptResult acquireTogether(List<LeaseSource> members, LeaseTerms terms) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void reenter(List<LeaseSource> members, LeaseTerms terms) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void exit(List<LeaseSource> members) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<RuntimeException> release(List<LeaseSource> from, List<OwnedLease> held) {
      from.forEach(member -> steps.add("release " + member.name()));
      return List.of();
    }
  }

  private void run(Boolean... granted) {
    grants.addAll(List.of(granted));
    LeaseTerms terms =
        LeaseTerms.of(LockOptions.defaults(), Duration.ofHours(1), Duration.ofMinutes(1), true);
    MultiAcquisition acquisition =
        new MultiAcquisition(source("whole"), List.of(first, last), terms, null, new Script());
    assertThrows(InterruptedException.class, acquisition::run);
  }

  @Test
  void membersAreAcquiredInTheirOrderAndReleasedWhenTheLastIsBusy() {
    run(true, false);

    assertEquals(
        List.of("wait for first", "wait for last", "release first", "wait for last"), steps);
  }

  @Test
  void theMembersBehindABusyOneAreReleasedBeforeTheWaitForIt() {
    run(true, false, true, false);

    assertEquals(
        List.of("try first", "release last", "wait for first"), steps.subList(4, steps.size()));
  }
}
