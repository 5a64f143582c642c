package io.mortise.core.internal;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.Attempt;
import io.mortise.core.spi.LeaseGroup.Outcome;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ScriptCall;
import io.mortise.core.spi.Terms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to take several locks of one client, all or none, in one round trip. It overtakes
 * nobody who waits in a line of this client, and does not wait itself.
 *
 * <p>Confined to the thread that makes it. All locks are taken by one holder id, which is safe to
 * repeat as ever; when the answer is missing, or comes after the lease, each of them is released in
 * the background until the lease would have run out.
 */
public final class GroupAttempt {
  private static final long LEAST_NANOS = 200_000_000L;

  private final Engine engine;
  private final List<EngineSource> sources;
  private final Terms terms;
  private final @Nullable Thread owner;
  private final String holder;
  private final List<Place> places = new ArrayList<>();

  private GroupAttempt(List<EngineSource> sources, Terms terms, @Nullable Thread owner) {
    this.engine = sources.get(0).engine();
    this.sources = sources;
    this.terms = terms;
    this.owner = owner;
    this.holder = engine.nextHolder();
  }

  /** Makes the attempt. */
  public static Outcome make(List<EngineSource> sources, Terms terms, @Nullable Thread owner)
      throws InterruptedException {
    return new GroupAttempt(sources, terms, owner).run();
  }

  private Outcome run() throws InterruptedException {
    if (terms.interruptible() && Thread.interrupted()) {
      throw new InterruptedException("interrupted while waiting for " + names());
    }
    engine.underway().begin();
    try {
      engine.ensureOpen(sources.get(0).protocol().name());
      for (int i = 0; i < sources.size(); i++) {
        if (!standInLine(sources.get(i))) {
          return new Outcome.Busy(i);
        }
      }
      return attempt();
    } finally {
      try {
        places.forEach(Place::leave);
      } finally {
        engine.underway().end();
      }
    }
  }

  private boolean standInLine(EngineSource source) {
    Place place = new Place(engine, source.protocol());
    places.add(place);
    boolean first = place.enterIfFree();
    place.releaseTenure();
    return first;
  }

  private Outcome attempt() {
    List<ScriptCall> calls = new ArrayList<>(sources.size());
    for (EngineSource source : sources) {
      calls.add(source.protocol().acquireTogether(holder, terms.leaseMillis()).orElseThrow());
    }
    long sentNanos = engine.nanos();
    long within =
        terms.waitNanos() == 0
            ? engine.commands().timeoutNanos()
            : Math.max(LEAST_NANOS, terms.waitNanos());
    try {
      Reply reply =
          engine
              .commands()
              .attempt(Request.together(calls), GroupAttempt::isGrant, this::releases, within);
      List<?> answer = (List<?>) reply.value();
      if ((Long) answer.get(0) == 0) {
        if (reply.repeated()) {
          abandon(Doubt.NONE.another(leaseFromNow()));
        }
        return new Outcome.Busy(Math.toIntExact((Long) answer.get(1)) - 1);
      }
      return new Outcome.Acquired(
          hold(Attempt.Acquired.of(answer), sentNanos, reply.repeated() ? doubt() : Doubt.NONE));
    } catch (Fault fault) {
      if (fault.mayHaveRun()) {
        abandon(fault.isAnswer() ? Doubt.NONE : doubt());
      }
      throw fault.forCaller(names());
    }
  }

  private static boolean isGrant(Object answer) {
    return (Long) ((List<?>) answer).get(0) == 1;
  }

  private List<ScriptCall> releases() {
    return sources.stream().map(source -> source.protocol().release(holder)).toList();
  }

  private List<OwnedLease> hold(Attempt.Acquired acquired, long sentNanos, Doubt doubt)
      throws Fault {
    List<LeaseHandle> leases = new ArrayList<>(sources.size());
    for (EngineSource source : sources) {
      leases.add(
          new LeaseHandle(engine, source.protocol(), holder, acquired, owner, terms, sentNanos));
    }
    if (engine.nanos() - leases.get(0).renewal().deadlineNanos() >= 0) {
      throw new Fault(
          Reason.UNREACHABLE,
          true,
          "the answer took longer than the lease of " + terms.leaseMillis() + " ms",
          new TimeoutException());
    }
    register(leases, doubt);
    return List.copyOf(leases);
  }

  /** A client that is being closed releases what is registered, and refuses each. */
  private void register(List<LeaseHandle> leases, Doubt doubt) {
    LockException closed = null;
    for (int i = 0; i < leases.size(); i++) {
      LeaseHandle lease = leases.get(i);
      lease.end().doubt(doubt);
      places.get(i).handOver(lease);
      try {
        engine.register(lease);
      } catch (LockException e) {
        closed = e;
      }
    }
    if (closed != null) {
      throw closed;
    }
  }

  private void abandon(Doubt doubt) {
    for (EngineSource source : sources) {
      engine.releases().abandon(source.protocol(), holder, doubt);
    }
  }

  private Doubt doubt() {
    return Doubt.NONE.another(leaseFromNow());
  }

  private long leaseFromNow() {
    return engine.nanos() + terms.leaseMillis() * 1_000_000;
  }

  private String names() {
    return String.join("', '", sources.stream().map(EngineSource::name).toList());
  }
}
