package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.text;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline.Result;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.internal.lease.HoldRegistry;
import io.mortise.core.internal.lease.HolderId;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Asks Redis who holds a lock and who waits for it: one script for the lock, and one for the
 * records of the clients that it names. Of many locks these are two round trips for each server.
 *
 * <p><b>Threads.</b> Any thread may call every method; there is no state.
 */
public record LockInspector(
    String clientId, ScriptExecutor commands, HoldRegistry holds, ClientRecord ownRecord) {
  private static final Script DESCRIBE = Script.load("lock/describe");
  private static final Script RECORDS = Script.load("client/records");

  /** The maximum number of waiters of each kind. */
  private static final int MAX_WAITERS = 1_000;

  /** The maximum number of clients whose records are read. */
  private static final int MAX_CLIENTS = 200;

  /**
   * Returns what Redis knows of the lock.
   *
   * @param ofReadWriteLock whether the lock object that asks is one side of a read-write lock: a
   *     queue beside a free lock does not say
   */
  public LockInspection inspect(LockName name, boolean ofReadWriteLock) throws CommandException {
    LockDescription found = LockDescription.of(commands.run(describe(name)).value());
    return read(name, found, records(List.of(found)), ofReadWriteLock);
  }

  /** Returns what Redis knows of each lock, or why one could not be asked. */
  List<LockInspection> inspectAll(List<LockName> names) {
    List<Result> results =
        commands
            .pipeline()
            .runAll(names.stream().map(LockInspector::describe).toList(), commands.timeoutNanos());
    List<Optional<LockDescription>> found = results.stream().map(LockInspector::answer).toList();
    Map<String, ProcessFacts> records = records(found.stream().flatMap(Optional::stream).toList());
    return IntStream.range(0, names.size())
        .mapToObj(
            i ->
                found
                    .get(i)
                    .map(each -> read(names.get(i), each, records, false))
                    .orElseGet(() -> failed(names.get(i), results.get(i))))
        .toList();
  }

  private LockInspection read(
      LockName name,
      LockDescription found,
      Map<String, ProcessFacts> records,
      boolean ofReadWriteLock) {
    return new InspectionReader(clientId, records, found, ofReadWriteLock, ownLeases(name))
        .read(name);
  }

  private static Optional<LockDescription> answer(Result result) {
    return result.fault() == null
        ? Optional.of(LockDescription.of(result.reply().value()))
        : Optional.empty();
  }

  private static LockInspection failed(LockName name, Result result) {
    CommandException fault = Objects.requireNonNull(result.fault(), "fault");
    return InspectedLock.failed(name.value(), LockExceptions.from(fault, name));
  }

  private static ScriptCall describe(LockName name) {
    return new ScriptCall(
        DESCRIBE, List.of(bytes(name.value())), List.of(bytes(name.tagged()), bytes(MAX_WAITERS)));
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

  /** Returns the records of the clients of Mortise; none if they cannot be read. */
  private Map<String, ProcessFacts> records(List<LockDescription> descriptions) {
    List<String> clients =
        descriptions.stream()
            .flatMap(found -> Stream.of(found.holds(), found.queue(), found.others()))
            .flatMap(List::stream)
            .map(InspectionReader::idOf)
            .filter(id -> id.maker() == Library.MORTISE && !id.clientId().equals(clientId))
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
        records.put(clients.get(i), ProcessFacts.parse(text(record)));
      }
    }
    return records;
  }
}
