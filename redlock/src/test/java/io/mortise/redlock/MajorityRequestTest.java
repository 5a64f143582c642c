package io.mortise.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pause of this process is no silence of its nodes. */
@Timeout(60)
class MajorityRequestTest {
  private static final Duration BUDGET = Duration.ofMinutes(1);
  private static final long PAUSE_NANOS = BUDGET.multipliedBy(10).toNanos();

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final QuorumMembers members =
      new QuorumMembers(nodes.stream().map(QuorumMember::of).toList(), BUDGET);
  private final MajorityRequest request = new MajorityRequest(members, BUDGET.toNanos());
  private final List<FakeNodeLease> leases =
      Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();

  @Test
  void repliesThatArriveInAPauseOfThisProcessAreReadAfterIt() throws Exception {
    Queue<Runnable> replies = new ArrayDeque<>();
    nodes.forEach(node -> node.threads = replies::add);
    AtomicInteger readings = new AtomicInteger();
    nodes.get(0).clock = () -> readings.getAndIncrement() == 0 ? 0 : PAUSE_NANOS;

    FutureTask<MemberReplies> release =
        new FutureTask<>(() -> request.ask(leases::get, OwnedLease::release, true));
    Thread releasing = new Thread(release);
    releasing.start();
    await().until(() -> release.isDone() || releasing.getState() == Thread.State.TIMED_WAITING);
    replies.forEach(Runnable::run);

    assertEquals(new MemberReplies(3, List.of()), release.get());
  }

  @Test
  void afterAPauseNodesThatStaySilentHaveOneMoreBudget() throws Exception {
    nodes.forEach(node -> node.threads = never -> {});
    long over = PAUSE_NANOS + BUDGET.toNanos();
    Queue<Long> readings = new ArrayDeque<>(List.of(0L, PAUSE_NANOS, PAUSE_NANOS));
    nodes.get(0).clock = () -> readings.isEmpty() ? over : readings.remove();

    FutureTask<MemberReplies> release =
        new FutureTask<>(() -> request.ask(leases::get, OwnedLease::release, true));
    Thread releasing = new Thread(release);
    releasing.setDaemon(true);
    releasing.start();

    MemberReplies replies = release.get(20, TimeUnit.SECONDS);
    assertEquals(0, replies.done());
    assertEquals(3, replies.failures().size());
  }
}
