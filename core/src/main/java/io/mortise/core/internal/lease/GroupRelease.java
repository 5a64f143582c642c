package io.mortise.core.internal.lease;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The release of several holds, those of one client in one round trip. Every one of them is
 * released, whatever goes wrong with the others.
 */
public final class GroupRelease {
  private final List<RuntimeException> thrown = new ArrayList<>();
  private final List<RedisLease> begun;

  /** The list has its room from the start: what has begun is noted without fail. */
  private GroupRelease(int most) {
    begun = new ArrayList<>(most);
  }

  /** Releases all; what went wrong with them. */
  public static List<RuntimeException> run(List<? extends OwnedLease> leases) {
    GroupRelease release = new GroupRelease(leases.size());
    try {
      release.all(leases);
    } finally {
      release.ensureEnded(0);
    }
    return release.thrown;
  }

  /** Ends those that an error has kept from their end, whatever goes wrong with one. */
  private void ensureEnded(int first) {
    for (int i = first; i < begun.size(); i++) {
      boolean ended = false;
      try {
        begun.get(i).end().ensureEnded();
        ended = true;
      } finally {
        if (!ended) {
          ensureEnded(i + 1);
        }
      }
    }
  }

  private void all(List<? extends OwnedLease> leases) {
    Map<ScriptExecutor, List<RedisLease>> groups = new LinkedHashMap<>();
    List<OwnedLease> others = new ArrayList<>();
    for (OwnedLease lease : leases) {
      if (lease instanceof RedisLease handle && handle.end().begin()) {
        begun.add(handle);
        groups
            .computeIfAbsent(handle.context().commands(), client -> new ArrayList<>())
            .add(handle);
      } else {
        others.add(lease);
      }
    }
    groups.forEach(this::together);
    others.forEach(lease -> noting(lease::release));
  }

  private void together(ScriptExecutor commands, List<RedisLease> leases) {
    List<ScriptCall> calls = leases.stream().map(RedisLease::releaseCall).toList();
    List<ScriptPipeline.Result> answers =
        commands
            .pipeline()
            .runAll(calls, leases.get(0).context().nanos() + commands.timeoutNanos());
    for (int i = 0; i < leases.size(); i++) {
      end(leases.get(i), answers.get(i));
    }
  }

  private void end(RedisLease lease, ScriptPipeline.Result answer) {
    noting(
        () -> {
          if (answer.fault() != null) {
            throw lease.end().onNoReply(answer.fault());
          }
          lease.end().onReply(answer.reply());
          lease.release();
        });
  }

  private void noting(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException e) {
      thrown.add(e);
    }
  }
}
