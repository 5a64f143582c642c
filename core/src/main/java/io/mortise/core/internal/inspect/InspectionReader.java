package io.mortise.core.internal.inspect;

import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.inspect.LockDescription.Entry;
import io.mortise.core.internal.lease.HolderId;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LockName;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the inspection of a lock from its description in Redis and from what the client knows.
 *
 * @param clientId the client that asks
 * @param records the facts about the processes of clients, by the ids of the clients
 * @param ofReadWriteLock whether one side of a read-write lock asks
 * @param ownLeases the leases of this client for that name, by their holder ids
 */
record InspectionReader(
    String clientId,
    Map<String, ProcessFacts> records,
    LockDescription found,
    boolean ofReadWriteLock,
    Map<String, RedisLease> ownLeases) {
  private static final String WRITER = ":write";
  private static final String KEPT = ":kept";

  /** How far a token may be ahead of the server's clock and still be the time of the grant. */
  private static final long MAX_AHEAD_MICROS = 1_000_000;

  LockInspection read(LockName name) {
    return new InspectedLock(
        name.value(),
        found.mode(),
        found.token(),
        found.holds().stream().map(this::participant).toList(),
        Stream.concat(found.queue().stream(), found.others().stream())
            .map(this::participant)
            .toList(),
        found.queueLength(),
        List.of(),
        Optional.empty(),
        found.complete());
  }

  /** Returns the parts of an id; none of a field with another value than a hold has. */
  static HolderId idOf(Entry entry) {
    return HolderId.of(entry.isCounted() ? holder(entry.name()) : "");
  }

  /** Returns the holder id of a hold, without the suffix of a writer or of a kept minimum. */
  static String holder(String hold) {
    return without(KEPT, without(WRITER, hold));
  }

  private static String without(String suffix, String hold) {
    return hold.endsWith(suffix) ? hold.substring(0, hold.length() - suffix.length()) : hold;
  }

  private Participant participant(Entry entry) {
    HolderId id = idOf(entry);
    RedisLease lease = entry.holds() > 0 ? ownLeases.get(holder(entry.name())) : null;
    Thread owner = lease == null ? null : lease.owner();
    return new InspectedParticipant(
        holder(entry.name()),
        id.maker(),
        access(entry),
        Optional.of(id.clientId()).filter(client -> !client.isEmpty()),
        id.clientId().equals(clientId),
        records.getOrDefault(id.clientId(), ProcessFacts.UNKNOWN),
        threadId(id, owner),
        Optional.ofNullable(owner).map(Thread::getName),
        Optional.of(id.askedMillis())
            .filter(millis -> millis != HolderId.UNKNOWN)
            .map(Instant::ofEpochMilli),
        acquiredAt(entry, id),
        entry.holds(),
        remaining(entry),
        without(WRITER, entry.name()).endsWith(KEPT));
  }

  private boolean isReadWriteLock() {
    return found.mode() == Mode.READ
        || found.mode() == Mode.WRITE
        || (found.mode() == Mode.FREE && ofReadWriteLock);
  }

  private Access access(Entry entry) {
    if (entry.name().endsWith(WRITER)) {
      return Access.WRITE;
    }
    return isReadWriteLock() || found.others().contains(entry) ? Access.READ : Access.EXCLUSIVE;
  }

  /** The token is the server's clock at the grant, unless tokens are ahead of the clock. */
  private Optional<Instant> acquiredAt(Entry entry, HolderId id) {
    if (entry.holds() == 0
        || id.maker() != Library.MORTISE
        || access(entry) == Access.READ
        || found.token().isEmpty()) {
      return Optional.empty();
    }
    long micros = found.token().getAsLong();
    return micros - found.serverMicros() > MAX_AHEAD_MICROS
        ? Optional.empty()
        : Optional.of(Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
  }

  private static OptionalLong threadId(HolderId id, @Nullable Thread owner) {
    if (owner != null) {
      return OptionalLong.of(owner.getId());
    }
    return id.threadId() == HolderId.UNKNOWN
        ? OptionalLong.empty()
        : OptionalLong.of(id.threadId());
  }

  private static Duration remaining(Entry entry) {
    if (entry.holds() > 0 && entry.millis() < 0) {
      return LockOptions.MAX_LEASE;
    }
    return Duration.ofMillis(Math.max(0, entry.millis()));
  }
}
