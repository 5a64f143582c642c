package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.WorkerEvent;
import io.mortise.cli.worker.WorkerEvent.Entered;
import io.mortise.cli.worker.WorkerEvent.Held;
import io.mortise.cli.worker.WorkerEvent.Kept;
import io.mortise.cli.worker.WorkerEvent.Noted;
import io.mortise.cli.worker.WorkerReport;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** What the workers have reported in one act of a chapter. One thread writes and reads it. */
public final class Recording {
  private final List<Hold> holds = new ArrayList<>();
  private final List<Mark> marks = new ArrayList<>();
  private final Map<Integer, Entered> stayingInside = new HashMap<>();
  private final Set<Integer> prepared = new TreeSet<>();
  private final Set<Integer> finished = new TreeSet<>();
  private final Map<Account, List<Hold>> kept = new EnumMap<>(Account.class);
  private int sold;
  private int asking;

  void add(WorkerReport report) {
    int worker = report.worker();
    WorkerEvent event = report.event();
    if (event instanceof Held held) {
      holds.add(
          new Hold(
              worker,
              held.thread(),
              held.mode(),
              held.token(),
              held.askedNanos(),
              held.enteredNanos(),
              held.leftNanos()));
      sold += held.sold() ? 1 : 0;
    } else if (event instanceof Kept one) {
      kept.computeIfAbsent(one.account(), account -> new ArrayList<>())
          .add(new Hold(worker, one.thread(), 0, one.fromNanos(), one.fromNanos(), one.toNanos()));
    } else if (event instanceof Noted noted) {
      add(new Mark(worker, noted.thread(), noted.note(), noted.atNanos(), noted.detail()));
    } else if (event instanceof Entered entered) {
      stayingInside.putIfAbsent(worker, entered);
    } else if (event instanceof WorkerEvent.Asking) {
      asking++;
    } else if (event instanceof WorkerEvent.Prepared) {
      prepared.add(worker);
    } else if (event instanceof WorkerEvent.Finished) {
      finished.add(worker);
    }
  }

  void add(Mark mark) {
    marks.add(mark);
  }

  /** A hold that the worker cannot report any more, because it was stopped at that moment. */
  void endHoldOf(int worker, long atNanos) {
    staying(worker)
        .ifPresent(
            entered ->
                holds.add(
                    new Hold(
                        worker,
                        entered.thread(),
                        entered.token(),
                        entered.askedNanos(),
                        entered.enteredNanos(),
                        atNanos)));
  }

  /** What is over, in the order in which it was reported. */
  public List<Hold> holds() {
    return List.copyOf(holds);
  }

  /** When somebody had the lock of this account, where the locks were taken one by one. */
  public List<Hold> kept(Account account) {
    return List.copyOf(kept.getOrDefault(account, List.of()));
  }

  /** In the order in which they were reported. */
  public List<Mark> marks() {
    return List.copyOf(marks);
  }

  /** When it was first noted, in ns. */
  public OptionalLong timeOf(EventType note) {
    return marks.stream().filter(mark -> mark.note() == note).mapToLong(Mark::atNanos).min();
  }

  /** How often it was noted. */
  public int count(EventType note) {
    return (int) marks.stream().filter(mark -> mark.note() == note).count();
  }

  /** The hold of a worker that said it stays inside. */
  public Optional<Entered> staying(int worker) {
    return Optional.ofNullable(stayingInside.get(worker));
  }

  /** How many the workers say they have sold. */
  public int sold() {
    return sold;
  }

  /** How many stays inside are over. */
  public int served() {
    return holds.size();
  }

  /** How many of the threads that were called have said that they ask. */
  public int asking() {
    return asking;
  }

  boolean prepared(Set<Integer> workers) {
    return prepared.containsAll(workers);
  }

  boolean finished(Set<Integer> workers) {
    return finished.containsAll(workers);
  }
}
