package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.inspect.InspectedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.WaitPolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A source that is composed of other sources: it has the keys of all of them, uses the options with
 * the shortest lease, and runs its tasks on any of their clients that is open.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public abstract class CompositeLeaseSource implements LeaseSource {
  private final List<LeaseSource> sources;
  private final String name;
  private final LockOptions options;
  private final WaitPolicy waitPolicy;

  /** Creates a source that is composed of these, at least one. */
  protected CompositeLeaseSource(List<? extends LeaseSource> sources, String name) {
    this.sources = List.copyOf(sources);
    this.name = name;
    this.options =
        sources.stream()
            .map(LeaseSource::options)
            .min(Comparator.comparing(LockOptions::lease))
            .orElseThrow();
    this.waitPolicy =
        sources.stream()
            .map(LeaseSource::waitPolicy)
            .distinct()
            .reduce(WaitPolicy.AS_ASKED, WaitPolicy::then);
  }

  protected final List<LeaseSource> sources() {
    return sources;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final LockOptions options() {
    return options;
  }

  @Override
  public final long nanoTime() {
    return sources.get(0).nanoTime();
  }

  @Override
  public final double random() {
    return sources.get(0).random();
  }

  /** Returns the policies of all sources, of which one after the other is asked. */
  @Override
  public final WaitPolicy waitPolicy() {
    return waitPolicy;
  }

  @Override
  public final Set<LockKey> keys() {
    Set<LockKey> keys = new LinkedHashSet<>();
    sources.forEach(source -> keys.addAll(source.keys()));
    return keys;
  }

  @Override
  public final Future<?> submit(Runnable task) {
    RejectedExecutionException closed = closed();
    for (LeaseSource source : sources) {
      try {
        return source.submit(task);
      } catch (RejectedExecutionException e) {
        closed.addSuppressed(e);
      }
    }
    throw closed;
  }

  @Override
  public final void notifyUser(Runnable notification) {
    open().notifyUser(notification);
  }

  @Override
  public final void log(Runnable line) {
    open().log(line);
  }

  @Override
  public final void notifyDependent(Runnable notification) {
    open().notifyDependent(notification);
  }

  @Override
  public final boolean isClosed() {
    return open().isClosed();
  }

  /** Returns a source whose client is open; the first one if none is. */
  private LeaseSource open() {
    for (LeaseSource source : sources) {
      if (!source.isClosed()) {
        return source;
      }
    }
    return sources.get(0);
  }

  /** Schedules the task on all clients, because any may be closed first; one of them runs it. */
  @Override
  public final Runnable schedule(Runnable task, long delayNanos) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (begun.compareAndSet(false, true)) {
            task.run();
          }
        };
    RejectedExecutionException closed = closed();
    List<Runnable> cancels = new ArrayList<>();
    for (LeaseSource source : sources) {
      try {
        cancels.add(source.schedule(once, delayNanos));
      } catch (RejectedExecutionException e) {
        closed.addSuppressed(e);
      }
    }
    if (cancels.isEmpty()) {
      throw closed;
    }
    return () -> cancels.forEach(Runnable::run);
  }

  /** Inspects one member after the other. */
  @Override
  public LockInspection inspect() {
    return inspection(sources.stream().map(CompositeLeaseSource::inspectionOf).toList());
  }

  /** Returns the inspection that consists of these, one for each member. */
  protected final LockInspection inspection(List<LockInspection> members) {
    return InspectedLock.composite(name, members);
  }

  private static LockInspection inspectionOf(LeaseSource source) {
    try {
      return source.inspect();
    } catch (LockException e) {
      return failedInspection(source, e);
    }
  }

  /** Returns the inspection of a member that could not be asked. */
  protected static LockInspection failedInspection(LeaseSource source, LockException failure) {
    return InspectedLock.failed(source.name(), failure);
  }

  private static RejectedExecutionException closed() {
    return new RejectedExecutionException("all clients are closed");
  }
}
