package io.mortise.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.multilock.MultiLock;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/**
 * A lock of several segments, each with a holder of its own: as many holders at a time as there are
 * segments. It is for a resource that can be split, such as the stock of one hot article: five
 * segments with a fifth of the items each admit five sellers at a time. {@code ConcurrentHashMap}
 * once was split that way.
 *
 * <pre>{@code
 * SegmentedLock stock = new SegmentedLock(client, "stock:shoe", 5);
 * Optional<SegmentLease> held = stock.acquireAny(Duration.ofSeconds(2));
 * if (held.isPresent()) {
 *   try (SegmentLease segment = held.get()) {
 *     if (!sellOne(segment.index(), segment.fencingToken())) {
 *       stock.exhausted(segment.index()); // nobody is sent there any more
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p><b>A segment</b> is a plain lock: {@link #segment} returns it, with all methods of {@link
 * DistributedLock}. A {@code RedisLock} of its {@linkplain DistributedLock#name() name} is the same
 * lock, and excludes its holder; its client has to be without a namespace, which is in the name.
 *
 * <p><b>Any segment.</b> {@link #acquireAny} looks at all segments in one round trip, from a random
 * one on. When all are busy it waits in a queue in Redis, in the order of arrival over all
 * processes: a release notifies as many waiters as there are free segments, and no others. Those
 * that ask for one segment do not stand in that queue, and are woken by the release of theirs;
 * either may be first. Each waiter that is suspended or dead keeps one segment from the others for
 * at most 10 s.
 *
 * <p><b>Exhausted segments</b> can be marked; then {@code acquireAny} does not look at them, until
 * {@link #reset}. When all are exhausted it returns empty at once, and waiters are notified. {@code
 * acquire}, {@code acquireFor} and {@code acquireAll} do not look at the marks.
 *
 * <p><b>What is not guaranteed.</b> A release by another lock object of a segment's name (a {@code
 * RedisLock}, Redisson) does not notify those that wait for any; they notice it within 2.5 s, and
 * so may the end of a dead holder's lease be noticed. A mark is a plain key: it can be lost with
 * Redis' data, and a holder that lost its lease can still set it. All processes have to give the
 * same number of segments: one that gives fewer does not use the others, and finds other segments
 * for a key. While it waits for any segment at the head of the queue, it also keeps a free segment
 * that it does not know from each waiter behind it: a waiter counts all before it, whatever they
 * know.
 *
 * <p><b>In Redis</b>, with {@code {N}} for the name: the segments are plain locks of the names
 * {@code {N}:0}, {@code {N}:1} and so on, all in one slot of a cluster; {@code
 * mortise_segment_queue:{N}} and {@code mortise_segment_timeout:{N}} have the waiters; {@code
 * mortise_exhausted:{N}} the marks.
 *
 * <p><b>Threads.</b> Any thread may call any method. The object has no state.
 */
public final class SegmentedLock {
  /** The largest number of segments: each attempt to acquire any looks at each of them. */
  public static final int MAX_SEGMENTS = 256;

  private final LockClient client;
  private final SegmentKeys keys;
  private final ProtocolLeaseSource anySource;
  private final DistributedLock any;
  private final List<DistributedLock> segments;

  /**
   * Creates the segmented lock of that name. Sends nothing.
   *
   * @param segments their number, from 1 to {@link #MAX_SEGMENTS}; the same in all processes
   * @throws IllegalArgumentException if the number is out of that range, or the name is blank or
   *     too long (1,024 characters with the number of a segment), has an opening brace that makes
   *     no hash tag, or half of a surrogate pair
   */
  public SegmentedLock(LockClient client, String name, int segments) {
    this.client = Objects.requireNonNull(client, "client");
    if (segments < 1 || segments > MAX_SEGMENTS) {
      throw new IllegalArgumentException(
          "segmented lock '%s' needs 1 to %d segments, not %d"
              .formatted(name, MAX_SEGMENTS, segments));
    }
    this.keys = new SegmentKeys(LockName.of(client.options(), name), segments);
    this.anySource = ProtocolLeaseSource.of(client, new AnySegmentProtocol(keys, client.options()));
    this.any = LeaseBackedLock.of(anySource);
    this.segments =
        IntStream.range(0, segments)
            .mapToObj(i -> SegmentProtocol.of(keys, i, client.options()))
            .map(protocol -> LeaseBackedLock.of(ProtocolLeaseSource.of(client, protocol)))
            .toList();
  }

  /** Returns the name, with the client's namespace before it. */
  public String name() {
    return keys.name.value();
  }

  /** Returns the number of segments. */
  public int segments() {
    return segments.size();
  }

  // ---- any segment

  /**
   * Makes one attempt to acquire any segment that is not exhausted, in one round trip.
   *
   * @return the hold, renewed until it is closed; empty if all are held, exhausted, or promised to
   *     waiters
   * @throws io.mortise.core.LockException if Redis cannot be used; nothing is held
   */
  public Optional<SegmentLease> tryAcquireAny() {
    return any.tryAcquire().map(SegmentLease.class::cast);
  }

  /**
   * Waits for any segment that is not exhausted.
   *
   * @param wait zero or less makes one attempt
   * @return the hold, renewed until it is closed; empty if all were held all the time, and at once
   *     when all are exhausted
   * @throws InterruptedException if the thread is interrupted before it has a segment; nothing is
   *     held
   * @throws io.mortise.core.LockException if the wait ended while Redis could not be used; nothing
   *     is held
   */
  public Optional<SegmentLease> acquireAny(Duration wait) throws InterruptedException {
    return any.acquire(wait).map(SegmentLease.class::cast);
  }

  /**
   * As {@link #acquireAny(Duration)}, with a lease that is not renewed.
   *
   * @throws IllegalArgumentException if the lease is shorter than 1 ms or longer than 365 days
   */
  public Optional<SegmentLease> acquireAny(Duration wait, Duration lease)
      throws InterruptedException {
    return any.acquire(wait, lease).map(SegmentLease.class::cast);
  }

  /**
   * As {@link #acquireAny(Duration)}, without blocking the calling thread, as {@link
   * DistributedLock#acquireAsync(Duration)}.
   */
  public CompletionStage<Optional<SegmentLease>> acquireAnyAsync(Duration wait) {
    return indexed(any.acquireAsync(wait));
  }

  /** As {@link #acquireAnyAsync(Duration)}, with a lease that is not renewed. */
  public CompletionStage<Optional<SegmentLease>> acquireAnyAsync(Duration wait, Duration lease) {
    return indexed(any.acquireAsync(wait, lease));
  }

  /** No dependent stage: its cancellation would not reach the acquisition. */
  @SuppressWarnings("unchecked") // both protocols make each lease a SegmentLease
  private static CompletionStage<Optional<SegmentLease>> indexed(
      CompletionStage<? extends Optional<?>> stage) {
    return (CompletionStage<Optional<SegmentLease>>) stage;
  }

  // ---- a certain segment

  /**
   * Returns one segment as a lock: its waits, views, threads as owners, and questions.
   *
   * @param index from 0
   * @throws IndexOutOfBoundsException if there is no such segment
   */
  public DistributedLock segment(int index) {
    return segments.get(Objects.checkIndex(index, segments.size()));
  }

  /**
   * Returns the segment of a key, by consistent hashing: always the same one for the same key, and
   * another one for few keys when segments are added at the end.
   */
  public int segmentOf(String key) {
    Objects.requireNonNull(key, "key");
    return Hashing.consistentHash(Hashing.murmur3_128().hashString(key, UTF_8), segments.size());
  }

  /**
   * Waits for that segment, exhausted or not.
   *
   * @param wait zero or less makes one attempt
   * @return the hold, renewed until it is closed; empty if others held the segment all the time
   * @throws IndexOutOfBoundsException if there is no such segment
   * @throws InterruptedException if the thread is interrupted before it has the segment
   * @throws io.mortise.core.LockException if the wait ended while Redis could not be used
   */
  public Optional<SegmentLease> acquire(int index, Duration wait) throws InterruptedException {
    return segment(index).acquire(wait).map(SegmentLease.class::cast);
  }

  /** As {@link #acquire(int, Duration)}, with a lease that is not renewed. */
  public Optional<SegmentLease> acquire(int index, Duration wait, Duration lease)
      throws InterruptedException {
    return segment(index).acquire(wait, lease).map(SegmentLease.class::cast);
  }

  /**
   * Waits for the segment of that key ({@link #segmentOf}), so that a key always meets itself; as
   * {@link #acquire(int, Duration)}.
   */
  public Optional<SegmentLease> acquireFor(String key, Duration wait) throws InterruptedException {
    return acquire(segmentOf(key), wait);
  }

  /** As {@link #acquireFor(String, Duration)}, with a lease that is not renewed. */
  public Optional<SegmentLease> acquireFor(String key, Duration wait, Duration lease)
      throws InterruptedException {
    return acquire(segmentOf(key), wait, lease);
  }

  // ---- all segments

  /** Returns all segments as one lock, for a stocktaking: a {@link MultiLock} of them. */
  public DistributedLock all() {
    return new MultiLock(segments);
  }

  /**
   * Waits for all segments, exhausted or not: all or nothing. Between processes there is no order,
   * so a stocktaking may wait for long while many ask for single segments.
   *
   * @param wait zero or less makes one attempt
   * @return the hold of all, renewed until it is closed; empty if not all could be had in time
   * @throws InterruptedException if the thread is interrupted before it has all; nothing is held
   * @throws io.mortise.core.LockException if the wait ended while Redis could not be used; nothing
   *     is held
   */
  public Optional<Lease> acquireAll(Duration wait) throws InterruptedException {
    return all().acquire(wait);
  }

  // ---- exhausted segments

  /**
   * Marks a segment as exhausted for all processes, until it is {@link #reset}: those that would
   * take any do not look at it. To be called by its holder. The mark has no end of its own.
   *
   * @return whether all segments are exhausted now
   * @throws IndexOutOfBoundsException if there is no such segment
   * @throws io.mortise.core.LockException if Redis cannot be used; it may be marked or not
   */
  public boolean exhausted(int index) {
    return mark(keys.exhausted(Objects.checkIndex(index, segments()))) == segments();
  }

  /**
   * Removes the mark of a segment, and notifies those that wait.
   *
   * @throws IndexOutOfBoundsException if there is no such segment
   * @throws io.mortise.core.LockException if Redis cannot be used; it may be marked or not
   */
  public void reset(int index) {
    mark(keys.reset(Objects.checkIndex(index, segments())));
  }

  /**
   * Removes all marks, and notifies those that wait.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used; they may be removed or not
   */
  public void resetAll() {
    mark(keys.reset(SegmentKeys.ANY));
  }

  private long mark(ScriptCall call) {
    return (Long) anySource.query(call);
  }

  /**
   * Returns the exhausted segments at this moment, in order. One round trip.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  public List<Integer> exhaustedSegments() {
    return state().stream().skip(1).map(Math::toIntExact).filter(this::exists).sorted().toList();
  }

  private boolean exists(int index) {
    return index < segments();
  }

  /**
   * Returns the number of those that wait for any segment, in all processes, at this moment. One
   * round trip.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  public long queueLength() {
    return state().get(0);
  }

  @SuppressWarnings("unchecked")
  private List<Long> state() {
    return (List<Long>) anySource.query(keys.state());
  }

  /** Two are equal if they have the same client, name and number of segments. */
  @Override
  public boolean equals(Object other) {
    return other instanceof SegmentedLock lock
        && any.equals(lock.any)
        && segments() == lock.segments();
  }

  @Override
  public int hashCode() {
    return any.hashCode();
  }

  @Override
  public String toString() {
    return "segmented lock '%s' of %d segments, client %s".formatted(name(), segments(), client);
  }
}
