package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline.Result;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.inspect.LockDescription.Entry;
import io.mortise.core.internal.lease.HoldRegistry;
import io.mortise.core.internal.lease.HolderId;
import io.mortise.core.internal.lease.HolderId.Maker;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks Redis who holds a lock and who waits for it: one script for the lock, and one for the
 * records of the clients that it names.
 *
 * <p><b>Threads.</b> Any thread may call {@code inspect}; there is no state.
 */
public final class LockInspector {
  private static final Script DESCRIBE = Script.load("lock/describe");
  private static final Script RECORDS = Script.load("client/records");
  private static final String WRITER = ":write";
  private static final String KEPT = ":kept";

  /** The maximum number of waiters of each kind. */
  private static final int MAX_WAITERS = 1_000;

  /** The maximum number of clients whose records are read. */
  private static final int MAX_CLIENTS = 200;

  /** How far a token may be ahead of the server's clock to tell the time. */
  private static final long MAX_AHEAD_MICROS = 1_000_000;

  private final String clientId;
  private final ScriptExecutor commands;
  private final HoldRegistry holds;
  private final ClientRecord ownRecord;

  public LockInspector(
      String clientId, ScriptExecutor commands, HoldRegistry holds, ClientRecord ownRecord) {
    this.clientId = clientId;
    this.commands = commands;
    this.holds = holds;
    this.ownRecord = ownRecord;
  }

  /**
   * Returns what Redis knows of the lock.
   *
   * @param ofReadWriteLock whether the lock object that asks is one side of a read-write lock: a
   *     queue beside a free lock does not say
   */
  public LockInspection inspect(LockName name, boolean ofReadWriteLock) throws CommandException {
    LockDescription found =
        LockDescription.of(
            commands
                .run(
                    new ScriptCall(
                        DESCRIBE,
                        List.of(bytes(name.value())),
                        List.of(bytes(name.tagged()), bytes(MAX_WAITERS))))
                .value());
    boolean readWrite =
        found.mode() == Mode.READ
            || found.mode() == Mode.WRITE
            || (found.mode() == Mode.FREE && ofReadWriteLock);
    Lookup lookup = new Lookup(found, readWrite, records(found), ownLeases(name));
    return new InspectedLock(
        name.value(),
        found.mode(),
        found.token(),
        found.holds().stream().map(lookup::participant).toList(),
        Stream.concat(found.queue().stream(), found.others().stream())
            .map(lookup::participant)
            .toList(),
        found.queueLength(),
        List.of(),
        Optional.empty(),
        found.complete());
  }

  /** Returns the leases of this client for that name, by their holder ids. */
  private Map<String, RedisLease> ownLeases(LockName name) {
    Map<String, RedisLease> own = new HashMap<>();
    for (Object hold : holds.all()) {
      if (hold instanceof RedisLease lease && lease.lockName().equals(name.value())) {
        own.put(lease.holder(), lease);
      }
    }
    return own;
  }

  private static HolderId idOf(Entry entry) {
    return HolderId.of(holder(entry.name()));
  }

  /**
   * Returns the holder id of a hold: that of a writer has a suffix, and one that was released
   * before its minimum has another one.
   */
  private static String holder(String hold) {
    return without(KEPT, without(WRITER, hold));
  }

  private static String without(String suffix, String hold) {
    return hold.endsWith(suffix) ? hold.substring(0, hold.length() - suffix.length()) : hold;
  }

  /** Returns the records of the clients of Mortise; none if they cannot be read. */
  private Map<String, ProcessFacts> records(LockDescription found) {
    List<String> clients =
        Stream.of(found.holds(), found.queue(), found.others())
            .flatMap(List::stream)
            .map(LockInspector::idOf)
            .filter(id -> id.maker() == Maker.MORTISE && !id.clientId().equals(clientId))
            .map(HolderId::clientId)
            .distinct()
            .limit(MAX_CLIENTS)
            .toList();
    Map<String, ProcessFacts> records = new HashMap<>();
    records.put(clientId, ownRecord.facts());
    if (clients.isEmpty()) {
      return records;
    }
    List<ScriptCall> items =
        clients.stream()
            .map(client -> new ScriptCall(RECORDS, List.of(ClientRecord.key(client)), List.of()))
            .toList();
    List<Result> results = commands.pipeline().runBatch(items, commands.timeoutNanos());
    for (int i = 0; i < clients.size(); i++) {
      if (results.get(i).fault() == null
          && results.get(i).reply().value() instanceof byte[] record) {
        records.put(clients.get(i), ProcessFacts.parse(new String(record, UTF_8)));
      }
    }
    return records;
  }

  /** What is known beside the entries. */
  private final class Lookup {
    private final LockDescription found;
    private final boolean readWrite;
    private final Map<String, ProcessFacts> records;
    private final Map<String, RedisLease> ownLeases;

    Lookup(
        LockDescription found,
        boolean readWrite,
        Map<String, ProcessFacts> records,
        Map<String, RedisLease> ownLeases) {
      this.found = found;
      this.readWrite = readWrite;
      this.records = records;
      this.ownLeases = ownLeases;
    }

    Participant participant(Entry entry) {
      HolderId id = idOf(entry);
      RedisLease lease = entry.holds() > 0 ? ownLeases.get(holder(entry.name())) : null;
      Thread owner = lease == null ? null : lease.owner();
      return new InspectedParticipant(
          holder(entry.name()),
          library(id.maker()),
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
          remaining(entry));
    }

    private Access access(Entry entry) {
      if (entry.name().endsWith(WRITER)) {
        return Access.WRITE;
      }
      return readWrite || found.others().contains(entry) ? Access.READ : Access.EXCLUSIVE;
    }

    /**
     * The token of an exclusive hold is the server's clock at its grant, unless tokens are ahead of
     * the clock.
     */
    private Optional<Instant> acquiredAt(Entry entry, HolderId id) {
      if (entry.holds() == 0
          || id.maker() != Maker.MORTISE
          || access(entry) == Access.READ
          || found.token().isEmpty()) {
        return Optional.empty();
      }
      long micros = found.token().getAsLong();
      return micros - found.serverMicros() > MAX_AHEAD_MICROS
          ? Optional.empty()
          : Optional.of(Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
    }
  }

  private static Library library(Maker maker) {
    return switch (maker) {
      case MORTISE -> Library.MORTISE;
      case REDISSON -> Library.REDISSON;
      case OTHER -> Library.UNKNOWN;
    };
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
