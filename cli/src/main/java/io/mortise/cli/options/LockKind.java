package io.mortise.cli.options;

import com.google.common.collect.Comparators;
import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say of which kind the lock is. */
public final class LockKind {
  /**
   * For a node to answer. Longer than the default, because a process that has just started is slow.
   */
  private static final Duration MAX_BUDGET = Duration.ofSeconds(1);

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(names = "--fair", description = "Waiters get the lock in the order of their arrival.")
  private boolean fair;

  @Option(
      names = "--read",
      description = "The read side of a read-write lock: together with other readers.")
  private boolean read;

  @Option(names = "--write", description = "The write side of a read-write lock: alone.")
  private boolean write;

  /**
   * Returns the lock of that name: on the one server, or on a majority of several.
   *
   * @param lease the lease that is not renewed, or null for that of the clients
   * @throws ParameterException if the options do not go together, or the name is none
   */
  public DistributedLock of(RedisClients clients, String name, @Nullable Duration lease) {
    if (read && write) {
      throw wrong("--read and --write exclude each other");
    }
    if ((read || write) && clients.isQuorum()) {
      throw wrong(
          "--read and --write need one server: a lock on several has no sides; give --redis once");
    }
    return CheckedOptions.valueOf(
        command,
        () ->
            clients.isQuorum()
                ? ofMajority(clients.all(), name, lease)
                : ofOne(clients.all().get(0), name));
  }

  private RedLock ofMajority(List<LockClient> clients, String name, @Nullable Duration lease) {
    RedLock.Builder lock = RedLock.builder();
    clients.forEach(client -> lock.member(exclusive(client, name)));
    Duration its = lease == null ? clients.get(0).options().lease() : lease;
    return lock.nodeWaitBudget(Comparators.min(its.dividedBy(4), MAX_BUDGET)).build();
  }

  private DistributedLock ofOne(LockClient client, String name) {
    if (!read && !write) {
      return exclusive(client, name);
    }
    RedisReadWriteLock lock =
        fair ? RedisReadWriteLock.fair(client, name) : new RedisReadWriteLock(client, name);
    return read ? lock.readLock() : lock.writeLock();
  }

  private DistributedLock exclusive(LockClient client, String name) {
    return fair ? new RedisFairLock(client, name) : new RedisLock(client, name);
  }

  private ParameterException wrong(String message) {
    return new ParameterException(command.commandLine(), message);
  }
}
