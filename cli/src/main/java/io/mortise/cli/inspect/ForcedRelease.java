package io.mortise.cli.inspect;

import io.mortise.cli.text.Cell;
import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentedLock;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The forced release of one lock at one Redis, of which the user has seen who holds it.
 *
 * <p><b>Threads.</b> Confined to one thread.
 */
public final class ForcedRelease {
  /** The result of the release. */
  public enum Outcome {
    /** The holders that were shown hold it no more. */
    FORCED,
    /** Somebody else holds it by now; that one keeps it. */
    CHANGED,
    /** Nobody held it any more. */
    FREE
  }

  /** The name of a segmented lock with its hash tag, and the number of a segment. */
  private static final Pattern SEGMENT = Pattern.compile("(.*\\{.*}.*):(\\d{1,3})", Pattern.DOTALL);

  private final String server;
  private final LockClient client;
  private final String name;
  private final LockInspection shown;

  private ForcedRelease(String server, LockClient client, String name, LockInspection shown) {
    this.server = server;
    this.client = client;
    this.name = name;
    this.shown = shown;
  }

  /**
   * Asks who holds the lock.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used, or the key is no lock
   * @throws IllegalArgumentException if the name is none
   */
  public static ForcedRelease of(String server, LockClient client, String name) {
    return new ForcedRelease(server, client, name, new RedisLock(client, name).inspect());
  }

  /** Returns the URI without user and password. */
  public String server() {
    return server;
  }

  /** Returns what the user has to see before. */
  public LockInspection shown() {
    return shown;
  }

  /**
   * Returns the first field of the hash that is no id of a holder, or whose value is no hold count:
   * then it may be no lock, and to force it would delete it.
   */
  public Optional<String> strangeField() {
    return strangeField(shown);
  }

  private static Optional<String> strangeField(LockInspection lock) {
    return lock.holders().stream()
        .filter(holder -> holder.library() == Library.UNKNOWN)
        .map(holder -> Cell.printable(holder.id()))
        .findFirst();
  }

  /**
   * Returns why the hash may be no lock, though its fields look like holders: a lock of Mortise and
   * one of Redisson has an end, and without a mode it has one holder.
   */
  public Optional<String> doubt() {
    return doubt(shown);
  }

  private static Optional<String> doubt(LockInspection lock) {
    if (lock.mode() == Mode.EXCLUSIVE && lock.holders().size() != 1) {
      return Optional.of(
          "has several fields like holders, and only a read-write lock has, which has a mode too");
    }
    if (lock.mode() != Mode.EXCLUSIVE && !lock.isComplete()) {
      return Optional.of("cannot be read as a whole; use a user that may read all of its keys");
    }
    return lock.holders().stream()
            .anyMatch(holder -> holder.remaining().equals(LockOptions.MAX_LEASE))
        ? Optional.of("has no expiry, as no lock has; if it is one, give it one with PEXPIRE")
        : Optional.empty();
  }

  /** Returns whether the lock was held. */
  public boolean isHeld() {
    return shown.isHeld();
  }

  /**
   * Takes the lock from the holders that were shown, with the script of its family, which wakes
   * those that wait for it. Between the last look and the script another holder may still come in.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  public Outcome run() {
    LockInspection now = new RedisLock(client, name).inspect();
    if (!now.isHeld()) {
      return Outcome.FREE;
    }
    boolean same =
        ids(now).equals(ids(shown)) && strangeField(now).isEmpty() && doubt(now).isEmpty();
    return same && force(now) ? Outcome.FORCED : Outcome.CHANGED;
  }

  private boolean force(LockInspection now) {
    if (now.mode() == Mode.EXCLUSIVE) {
      return exclusive(now).forceUnlock();
    }
    RedisReadWriteLock lock =
        now.queueLength() > 0
            ? RedisReadWriteLock.fair(client, name)
            : new RedisReadWriteLock(client, name);
    // A writer keeps others out until the read holds of its thread are gone. In the other order the
    // readers that the end of the write hold lets in would lose theirs.
    boolean readers =
        now.holders().stream().anyMatch(holder -> holder.access() == Access.READ)
            && lock.readLock().forceUnlock();
    boolean writer = now.mode() == Mode.WRITE && lock.writeLock().forceUnlock();
    return readers || writer;
  }

  private DistributedLock exclusive(LockInspection now) {
    if (!now.isComplete()) {
      // A user who may not read the queue has the rights of a plain lock at best.
      return new RedisLock(client, name);
    }
    // Of a lock without a queue, all three wake those that wait for a plain lock.
    RedisFairLock fair = new RedisFairLock(client, name);
    return now.queueLength() > 0 ? fair : segment().orElse(fair);
  }

  /** Returns the lock as a segment, whose end those learn that wait for any, if it can be one. */
  private Optional<DistributedLock> segment() {
    Matcher parts = SEGMENT.matcher(name);
    if (!parts.matches()) {
      return Optional.empty();
    }
    int index = Integer.parseInt(parts.group(2));
    try {
      // Redis does not know their number. With more than there are, more waiters ask.
      SegmentedLock group = new SegmentedLock(client, parts.group(1), SegmentedLock.MAX_SEGMENTS);
      if (index >= group.segments() || !group.segment(index).name().equals(shown.name())) {
        return Optional.empty();
      }
      var unused = group.queueLength();
      return Optional.of(group.segment(index));
    } catch (LockException | IllegalArgumentException e) {
      // The user may not read the queue, its key is something else, or the name is too long.
      return Optional.empty();
    }
  }

  private static Set<String> ids(LockInspection lock) {
    return lock.holders().stream().map(Participant::id).collect(Collectors.toSet());
  }

  /** Returns one line that names the lock and those who held it. */
  public String described() {
    List<String> holders = shown.holders().stream().map(ForcedRelease::describe).toList();
    return Cell.printable(
        "'%s' at %s from %s".formatted(shown.name(), server, String.join(", ", holders)));
  }

  private static String describe(Participant holder) {
    StringBuilder text = new StringBuilder(holder.id());
    if (holder.library() == Library.REDISSON) {
      text.append(" of Redisson");
    }
    holder.host().ifPresent(host -> text.append(" on ").append(host));
    holder.processId().ifPresent(id -> text.append(" in process ").append(id));
    return text.toString();
  }
}
