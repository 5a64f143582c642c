package io.mortise.core.internal.lease;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Multimaps;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Releases several holds, with one round trip for those of one client. Each hold is released,
 * whatever happens to the others.
 *
 * <p><b>Threads.</b> Any thread may call {@link #run}; each call has its own instance, which is
 * confined to its thread.
 */
public final class GroupRelease {
  private final List<RuntimeException> failures = new ArrayList<>();
  private final List<RedisLease> begun;
  private final GroupTimeout timeout;

  /** Allocates the list in full size, so that recording a begun release cannot fail. */
  private GroupRelease(int capacity, GroupTimeout timeout) {
    this.begun = new ArrayList<>(capacity);
    this.timeout = timeout;
  }

  /**
   * Releases all; returns the exceptions of those that failed. After an error none is renewed that
   * could not be released.
   */
  public static List<RuntimeException> run(
      List<? extends OwnedLease> leases, GroupTimeout timeout) {
    try {
      GroupRelease release = new GroupRelease(leases.size(), timeout);
      try {
        release.releaseAll(leases);
      } finally {
        release.ensureEnded(0);
      }
      return release.failures;
    } catch (Throwable e) {
      stopRenewals(leases, 0);
      throw e;
    }
  }

  private static void stopRenewals(List<? extends OwnedLease> leases, int first) {
    if (first < leases.size()) {
      try {
        leases.get(first).stopRenewal(OwnedLease.UNRELEASED);
      } finally {
        stopRenewals(leases, first + 1);
      }
    }
  }

  /** Ends the releases that an error has interrupted; a failure of one does not stop the others. */
  private void ensureEnded(int first) {
    for (int i = first; i < begun.size(); i++) {
      try {
        begun.get(i).releasing().ensureEnded();
      } catch (Throwable e) {
        ensureEnded(i + 1);
        throw e;
      }
    }
  }

  private void releaseAll(List<? extends OwnedLease> leases) {
    ListMultimap<ScriptExecutor, RedisLease> groups =
        MultimapBuilder.linkedHashKeys().arrayListValues().build();
    List<OwnedLease> others = new ArrayList<>();
    for (OwnedLease lease : leases) {
      if (lease instanceof RedisLease redisLease && redisLease.releasing().begin()) {
        begun.add(redisLease);
        groups.put(redisLease.commands(), redisLease);
      } else {
        others.add(lease);
      }
    }
    Multimaps.asMap(groups).forEach(this::releaseTogether);
    others.forEach(lease -> collectFailure(lease::release));
  }

  private void releaseTogether(ScriptExecutor commands, List<RedisLease> leases) {
    List<ScriptCall> calls = leases.stream().map(RedisLease::releaseCall).toList();
    List<ScriptPipeline.Result> results =
        commands.pipeline().runAll(calls, timeout.nanosFor(commands));
    for (int i = 0; i < leases.size(); i++) {
      finish(leases.get(i), results.get(i));
    }
  }

  private void finish(RedisLease lease, ScriptPipeline.Result result) {
    collectFailure(
        () -> {
          try {
            if (result.fault() != null) {
              throw lease.releasing().noReply(result.fault());
            }
            lease.releasing().onReply(result.reply());
          } finally {
            lease.releasing().ensureEnded();
          }
          lease.release();
        });
  }

  private void collectFailure(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }
}
