package io.mortise.core.internal.lease;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Releases several holds, with one round trip for those of one client. Each hold is released,
 * whatever happens to the others, and at all clients at the same time: a server that is silent does
 * not keep the locks of the others held.
 *
 * <p><b>Threads.</b> Any thread may call {@link #run}; each call has its own instance, which is
 * confined to its thread. Workers of the clients only send what this thread has prepared, and
 * release the holds that several threads share; it reads their replies.
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
    Map<ScriptExecutor, ClientPart> byClient = new LinkedHashMap<>();
    List<OwnedLease> others = new ArrayList<>();
    for (OwnedLease lease : leases) {
      if (lease instanceof RedisHold hold) {
        ClientPart part =
            byClient.computeIfAbsent(
                hold.context().commands(), client -> new ClientPart(hold.context()));
        if (lease instanceof RedisLease own && own.releasing().begin()) {
          begun.add(own);
          part.together.add(own);
        } else {
          part.single.add(hold);
        }
      } else {
        others.add(lease);
      }
    }
    List<ClientPart> parts = List.copyOf(byClient.values());
    parts.forEach(ClientPart::prepare);
    parts.stream().skip(others.isEmpty() ? 1 : 0).forEach(ClientPart::start);
    List<RuntimeException> failuresOfOthers = new ArrayList<>();
    others.forEach(lease -> collectFailure(lease::release, failuresOfOthers));
    parts.forEach(ClientPart::finish);
    failures.addAll(failuresOfOthers);
  }

  /** The replies to what was sent for the holds of one client. */
  private record Replies(
      List<ScriptPipeline.Result> ofTogether, List<RuntimeException> failuresOfSingle) {}

  /** The holds of one client. */
  private final class ClientPart {
    private final LeaseContext client;
    private final List<RedisLease> together = new ArrayList<>();

    /** Holds that are shared, or have ended: each is released by itself. */
    private final List<RedisHold> single = new ArrayList<>();

    private final FutureTask<Replies> sending = new FutureTask<>(this::send);
    private List<ScriptCall> calls = List.of();
    private long withinNanos;

    ClientPart(LeaseContext client) {
      this.client = client;
    }

    void prepare() {
      calls = together.stream().map(RedisLease::releaseCall).toList();
      withinNanos = timeout.nanosFor(client.commands());
    }

    private Replies send() {
      List<ScriptPipeline.Result> results = client.commands().pipeline().runAll(calls, withinNanos);
      List<RuntimeException> failed = new ArrayList<>();
      single.forEach(hold -> collectFailure(hold::release, failed));
      return new Replies(results, failed);
    }

    /** Has a worker send; if there is none, {@link #finish} does it. */
    void start() {
      client.tasks().run(sending);
    }

    void finish() {
      Replies replies = replies();
      for (int i = 0; i < together.size(); i++) {
        GroupRelease.this.finish(together.get(i), replies.ofTogether().get(i));
      }
      failures.addAll(replies.failuresOfSingle());
    }

    private Replies replies() {
      sending.run(); // without effect if a worker has begun it
      try {
        return Objects.requireNonNull(Uninterruptibles.getUninterruptibly(sending));
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw new IllegalStateException("the releases could not be sent", e);
      }
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
        },
        failures);
  }

  private static void collectFailure(Runnable release, List<RuntimeException> failures) {
    try {
      release.run();
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }
}
