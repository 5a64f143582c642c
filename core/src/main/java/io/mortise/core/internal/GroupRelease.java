package io.mortise.core.internal;

import io.mortise.core.internal.ManyCommands.Answer;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ScriptCall;
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
  private final List<LeaseHandle> begun;

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
      // Those that an error has kept from their end.
      release.begun.forEach(lease -> lease.end().finish());
    }
    return release.thrown;
  }

  private void all(List<? extends OwnedLease> leases) {
    Map<Commands, List<LeaseHandle>> groups = new LinkedHashMap<>();
    List<OwnedLease> others = new ArrayList<>();
    for (OwnedLease lease : leases) {
      if (lease instanceof LeaseHandle handle && handle.end().begin()) {
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

  private void together(Commands commands, List<LeaseHandle> leases) {
    List<ScriptCall> calls = leases.stream().map(LeaseHandle::releaseCall).toList();
    List<Answer> answers =
        commands.many().all(calls, leases.get(0).context().nanos() + commands.timeoutNanos());
    for (int i = 0; i < leases.size(); i++) {
      end(leases.get(i), answers.get(i));
    }
  }

  private void end(LeaseHandle lease, Answer answer) {
    noting(
        () -> {
          if (answer.fault() != null) {
            throw lease.end().failed(answer.fault());
          }
          lease.end().answered(answer.reply());
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
