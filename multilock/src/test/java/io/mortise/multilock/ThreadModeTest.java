package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The members that a thread owns, when memory runs out in the middle of what it does with them. */
class ThreadModeTest {
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

  private final List<String> calls = new ArrayList<>();

  /** The calls that fail. */
  private final Set<String> failing = new HashSet<>();

  private final List<LeaseSource> members =
      List.of(source("first"), source("second"), source("last"));
  private final List<OwnedLease> leases =
      members.stream().map(member -> lease(member.name())).toList();
  private final LeaseSource whole = source("whole");
  private final ThreadMode mode = new ThreadMode();

  private LeaseSource source(String name) {
    return (LeaseSource)
        Proxy.newProxyInstance(
            LeaseSource.class.getClassLoader(),
            new Class<?>[] {LeaseSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name", "toString", "identity" -> name;
                  case "options" -> LockOptions.defaults();
                  case "nanoTime" -> System.nanoTime();
                  case "random" -> Math.random();
                  case "canAcquireTogetherWith" -> true;
                  case "acquireTogether" -> new GroupAttemptResult.Acquired(leases);
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private OwnedLease lease(String name) {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) -> {
              String call = method.getName() + " " + name;
              calls.add(call);
              if (failing.contains(call)) {
                throw new OutOfMemoryError("on purpose");
              }
              return switch (method.getName()) {
                case "state" -> State.HELD;
                case "isValid" -> true;
                case "loss" -> Optional.empty();
                case "onChangeWhileHeld" -> (Runnable) () -> calls.add("unwatched " + name);
                default -> null;
              };
            });
  }

  private void lockMembers(Object enteredBy) throws InterruptedException {
    for (int i = 0; i < members.size(); i++) {
      LeaseSource member = members.get(i);
      if (ThreadOwnership.leaseOf(member.identity()).isEmpty()) {
        ThreadOwnership.registerFor(enteredBy, member, leases.get(i), TERMS);
      } else {
        assertTrue(ThreadOwnership.lockFor(enteredBy, member, TERMS));
      }
    }
  }

  private void lockWhole() throws InterruptedException {
    lockMembers(mode);
    OwnedLease hold =
        new MultiLease(whole, members, leases, 1, Thread.currentThread(), true, mode, 0);
    ThreadOwnership.registerFor(this, whole, hold, TERMS);
  }

  private void assertThreadHoldsNoMember() {
    for (LeaseSource member : members) {
      assertTrue(ThreadOwnership.leaseOf(member.identity()).isEmpty(), member.name());
    }
  }

  /** Exits that level of each member. */
  private void assertThreadHoldsEachMemberOnce(Object enteredBy) {
    for (LeaseSource member : members) {
      assertNotNull(ThreadOwnership.exitFor(enteredBy, member), member.name());
    }
  }

  private void assertNoneIsRenewed() {
    for (LeaseSource member : members) {
      assertTrue(calls.contains("stopRenewal " + member.name()), member.name());
    }
  }

  /** A test that fails leaves nothing to the next one, which may run on the same thread. */
  @AfterEach
  void forgetMembers() {
    failing.clear();
    for (LeaseSource member : members) {
      while (ThreadOwnership.leaseOf(member.identity()).isPresent()) {
        ThreadOwnership.unlock(member);
      }
    }
  }

  @Test
  void theThreadHasExitedAllMembersAndNoneIsRenewed() throws Exception {
    lockMembers(mode);
    calls.clear();
    List<LeaseSource> failingAtTheSecond =
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

    assertThrows(OutOfMemoryError.class, () -> mode.release(failingAtTheSecond, List.of()));

    assertThreadHoldsNoMember();
    assertEquals(List.of("stopRenewal first", "stopRenewal second", "stopRenewal last"), calls);
  }

  @Test
  void aReentryThatEndsWithAnErrorLeavesNoLevelOfAnyMember() throws Exception {
    lockWhole();
    failing.add("keepUntil first");
    LeaseTerms kept = TERMS.atLeast(Duration.ofHours(1));

    assertThrows(OutOfMemoryError.class, () -> ThreadOwnership.lockFor(this, whole, kept));

    ThreadOwnership.unlock(whole);
    assertThreadHoldsNoMember();
  }

  @Test
  void anExitWithAnErrorAtOneMemberExitsAll() throws Exception {
    lockMembers(mode);
    lockMembers(mode);
    failing.add("exit first");

    assertThrows(OutOfMemoryError.class, () -> mode.exit(members));

    assertThreadHoldsEachMemberOnce(mode);
  }

  @Test
  void anUnlockWithAnErrorBeforeTheReleaseExitsTheMembersAllTheSame() throws Exception {
    lockWhole();
    failing.add("state second");

    assertThrows(OutOfMemoryError.class, () -> ThreadOwnership.unlock(whole));

    assertThreadHoldsNoMember();
    assertNoneIsRenewed();
  }

  @Test
  void anUnlockWithAnErrorInTheReleaseExitsEachMemberOnce() throws Exception {
    lockMembers(this); // each separately
    lockWhole();
    failing.add("exit second");

    assertThrows(OutOfMemoryError.class, () -> ThreadOwnership.unlock(whole));

    assertThreadHoldsEachMemberOnce(this);
  }

  @Test
  void aWholeThatNobodyReceivesWaivesTheMinimumOfItsOtherMembers() throws Exception {
    ThreadOwnership.registerFor(this, members.get(1), leases.get(1), TERMS); // separately
    lockMembers(mode);
    MultiLease hold =
        new MultiLease(whole, members, leases, 1, Thread.currentThread(), true, mode, 0);
    calls.clear();

    hold.releaseUnused();

    assertEquals(
        List.of("waiveMinimum first", "waiveMinimum last"),
        calls.stream().filter(call -> call.startsWith("waiveMinimum")).toList());
  }

  /** The whole has no minimum yet: nobody has received it. */
  @Test
  void aWholeThatNobodyReceivesLeavesTheMinimumOfAMemberThatTheThreadHolds() throws Exception {
    lockMembers(this); // each separately
    lockMembers(mode);
    MultiLease hold =
        new MultiLease(whole, members, leases, 1, Thread.currentThread(), true, mode, 0);
    calls.clear();

    hold.releaseUnused();

    assertTrue(calls.stream().noneMatch(call -> call.startsWith("waiveMinimum")), calls::toString);
    assertThreadHoldsEachMemberOnce(this);
  }

  /** Otherwise each loss of a whole would stay with a member that lasts. */
  @Test
  void aLostWholeThatIsGivenUpWatchesNoMember() throws Exception {
    lockMembers(this); // each separately
    lockMembers(mode);
    MultiLease hold =
        new MultiLease(whole, members, leases, 1, Thread.currentThread(), true, mode, 0);
    calls.clear();

    hold.giveUpLost(1);

    assertTrue(
        calls.containsAll(List.of("unwatched first", "unwatched second", "unwatched last")),
        calls::toString);
    assertThreadHoldsEachMemberOnce(this);
  }

  /** The thread, which knows of the loss, may never release the whole. */
  @Test
  void anErrorWhileALostWholeIsGivenUpLeavesNoMemberRenewed() throws Exception {
    lockMembers(mode);
    lockMembers(mode);
    MultiLease hold =
        new MultiLease(whole, members, leases, 1, Thread.currentThread(), true, mode, 0);
    failing.add("releaseInBackground first");
    calls.clear();

    assertThrows(OutOfMemoryError.class, () -> hold.giveUpLost(2));

    assertThreadHoldsNoMember();
    assertNoneIsRenewed();
  }

  @Test
  void anErrorWhileAGroupIsRegisteredLeavesNoMemberWithTheThread() {
    failing.addAll(Set.of("beginMinimum second", "releaseUnused second", "release second"));

    assertThrows(OutOfMemoryError.class, () -> mode.acquireTogether(members, TERMS));

    assertThreadHoldsNoMember();
    assertNoneIsRenewed();
  }
}
