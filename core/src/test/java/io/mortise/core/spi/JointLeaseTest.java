package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A hold of holds, seen late: its process was suspended, and more than one member had ended before
 * anybody looked.
 */
class JointLeaseTest {
  private static final long START = System.nanoTime();
  private final Member a = new Member();
  private final Member b = new Member();
  private final Member c = new Member();
  private final Member late = new Member();

  @Test
  void aMajorityIsLostWhenTheMemberIsLostWithWhichItWasOneNoMore() {
    Joint hold = new Joint(2, a, b, c);
    c.endedAt = START + 30;
    a.endedAt = START + 10;
    b.endedAt = START + 20;
    assertEquals(START + 20, hold.loss().orElseThrow().atNanos());
  }

  @Test
  void aPlaceThatIsEmptyIsAMemberLostBefore() {
    Joint hold = new Joint(2, a, null, c);
    a.endedAt = START + 10;
    c.endedAt = START + 30;
    assertEquals(START + 10, hold.loss().orElseThrow().atNanos());
  }

  @Test
  void allAreLostWhenTheFirstIs() {
    Joint hold = new Joint(3, a, b, c);
    b.endedAt = START + 20;
    a.endedAt = START + 10;
    assertEquals(START + 10, hold.loss().orElseThrow().atNanos());
  }

  @Test
  void aMemberThatJoinsLateDoesNotMakeAMajorityOfOneThatIsOver() {
    Joint hold = new Joint(2, a, b, null);
    b.endedAt = START + 10;
    assertFalse(hold.join(2, null, late), "others may have had the lock meanwhile");
    assertEquals(Lease.State.LOST, hold.state());
  }

  @Test
  void aMemberThatJoinsAMajorityStandsInForOneThatIsLostLater() {
    Joint hold = new Joint(2, a, b, null);
    assertTrue(hold.join(2, null, late));
    b.endedAt = START + 10;
    assertEquals(Lease.State.HELD, hold.state());
    a.endedAt = START + 40;
    assertEquals(START + 40, hold.loss().orElseThrow().atNanos());
  }

  /** A member that ends without telling it. */
  private static final class Member {
    @Nullable Long endedAt;

    final OwnedLease lease =
        (OwnedLease)
            Proxy.newProxyInstance(
                OwnedLease.class.getClassLoader(), new Class<?>[] {OwnedLease.class}, answers());

    private InvocationHandler answers() {
      return (proxy, method, arguments) ->
          switch (method.getName()) {
            case "state" -> endedAt == null ? Lease.State.HELD : Lease.State.LOST;
            case "isValid" -> endedAt == null;
            case "loss" ->
                Optional.ofNullable(endedAt)
                    .map(at -> new LeaseLoss("member", 1, Reason.EXPIRED, at, "it ran out"));
            case "lockName" -> "member";
            case "onStateChange" -> null;
            default -> throw new UnsupportedOperationException(method.getName());
          };
    }
  }

  private static final class Joint extends JointLease {
    Joint(int required, @Nullable Member... members) {
      super(source(), leases(members), required, 1, null);
    }

    private static List<@Nullable OwnedLease> leases(@Nullable Member... members) {
      List<@Nullable OwnedLease> leases = new ArrayList<>();
      Arrays.stream(members).forEach(member -> leases.add(member == null ? null : member.lease));
      return leases;
    }

    private static LeaseSource source() {
      return (LeaseSource)
          Proxy.newProxyInstance(
              LeaseSource.class.getClassLoader(),
              new Class<?>[] {LeaseSource.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "name" -> "joint";
                    case "submit" -> new CompletableFuture<Void>();
                    default -> throw new UnsupportedOperationException(method.getName());
                  });
    }

    boolean join(int place, @Nullable OwnedLease expected, Member member) {
      return join(place, expected, member.lease);
    }

    @Override
    protected List<RuntimeException> giveBack(List<OwnedLease> held) {
      return List.of();
    }

    @Override
    protected List<RuntimeException> each(Consumer<OwnedLease> action) {
      return List.of();
    }

    @Override
    protected void lost() {}

    @Override
    protected void lostMember(int place, OwnedLease member) {}
  }
}
