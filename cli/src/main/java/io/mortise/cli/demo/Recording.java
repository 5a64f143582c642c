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

/**
 * The events of the workers in one act of a chapter.
 *
 * <p><b>Threads.</b> One thread, that of the chapter.
 */
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
      add(new Mark(worker, noted.thread(), noted.type(), noted.atNanos(), noted.detail()));
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

  /** Ends a hold that the worker cannot report, because it was killed or suspended. */
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

  /** The holds that are over, in the order of their reports. */
  public List<Hold> holds() {
    return List.copyOf(holds);
  }

  /** The holds of the lock of this account, where the locks were taken one by one. */
  public List<Hold> kept(Account account) {
    return List.copyOf(kept.getOrDefault(account, List.of()));
  }

  /** The marks, in the order of their reports. */
  public List<Mark> marks() {
    return List.copyOf(marks);
  }

  /** The time of the first event of this type, in ns. */
  public OptionalLong timeOf(EventType type) {
    return marks.stream().filter(mark -> mark.type() == type).mapToLong(Mark::atNanos).min();
  }

  /** The number of events of this type. */
  public int count(EventType type) {
    return (int) marks.stream().filter(mark -> mark.type() == type).count();
  }

  /** The hold of a worker that stays inside. */
  public Optional<Entered> staying(int worker) {
    return Optional.ofNullable(stayingInside.get(worker));
  }

  /** The number of sales by the reports of the workers. */
  public int sold() {
    return sold;
  }

  /** The number of holds that are over. */
  public int served() {
    return holds.size();
  }

  /** The number of called threads that have reported their request. */
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
