package io.mortise.schedules;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import java.util.ArrayList;
import java.util.List;

/**
 * The critical section, which must not be entered twice at a time.
 *
 * <p>Where holds may be lost, an overlap is no failure if the holder with the older grant, and so
 * with the smaller token, learns of it at its unlock. That one may come in later: its grant may
 * have been on its way when it was taken away.
 */
final class Section {
  /** Whether holds are lost, and whether each holder learns of it. */
  enum Losses {
    NONE,
    REPORTED,
    /** The documents name the cases in which a release does not learn of a loss. */
    SOME_UNREPORTED
  }

  private static final class Visit {
    final String thread;
    final boolean shared;
    final long token;

    /** The visit with a newer grant with which this one overlaps. */
    String overlap;

    Visit(String thread, boolean shared, long token) {
      this.thread = thread;
      this.shared = shared;
      this.token = token;
    }
  }

  private final Losses losses;
  private final boolean quorum;
  private final List<Visit> inside = new ArrayList<>();
  private long lastWriter;
  private long lastReader;
  private int visits;

  /**
   * @param quorum whether a release may end without the replies of a majority, or in doubt because
   *     one of a bare majority was silent: a pause of the process is longer than the time that they
   *     have. Its client repeats it, and the visit is not excused from anything else.
   */
  Section(Losses losses, boolean quorum) {
    this.losses = losses;
    this.quorum = quorum;
  }

  int visits() {
    return visits;
  }

  /** Visits the section with a lock that is held, and unlocks it. */
  void visit(DistributedLock lock, boolean shared, World.Step stay) throws Exception {
    visit(lock.lease().fencingToken(), shared, stay, lock::unlock);
  }

  /** Visits the section with a handle, and closes it. */
  void visit(Lease lease, boolean shared, World.Step stay) throws Exception {
    visit(lease.fencingToken(), shared, stay, lease::close);
  }

  @SuppressWarnings("Finally") // a step that fails ends the execution all the same
  private void visit(long token, boolean shared, World.Step stay, Runnable leave) throws Exception {
    Visit visit = enter(token, shared);
    boolean lost = false;
    boolean inDoubt = false;
    try {
      stay.run();
    } finally {
      inside.remove(visit);
      try {
        leave.run();
      } catch (LeaseLostException e) {
        lost = true;
      } catch (LockException e) {
        inDoubt = e.reason() == LockException.Reason.IN_DOUBT;
        if (!inDoubt && !(quorum && e.reason().isTransient())) {
          throw e;
        }
      }
      if (losses == Losses.NONE && (lost || (inDoubt && !quorum))) {
        throw new AssertionError("%s has lost its hold".formatted(visit.thread));
      }
      check(visit, lost || inDoubt);
    }
  }

  private Visit enter(long token, boolean shared) {
    Visit visit = new Visit(Thread.currentThread().getName(), shared, token);
    for (Visit other : inside) {
      if (!other.shared || !shared) {
        Visit loser = other.token < token ? other : visit;
        loser.overlap = (loser == other ? visit : other).thread;
      }
    }
    inside.add(visit);
    visits++;
    if (losses == Losses.NONE) {
      checkToken(token, shared);
    }
    return visit;
  }

  /** A reader has the token of the last writer, or, if none is known, the server's clock. */
  private void checkToken(long token, boolean shared) {
    if (shared ? token < lastWriter : token <= lastWriter || token < lastReader) {
      throw new AssertionError(
          "token %d after that of a writer, %d, and of a reader, %d"
              .formatted(token, lastWriter, lastReader));
    }
    if (shared) {
      lastReader = Math.max(lastReader, token);
    } else {
      lastWriter = token;
    }
  }

  private void check(Visit visit, boolean notified) {
    if (visit.overlap != null && !notified && losses != Losses.SOME_UNREPORTED) {
      throw new AssertionError(
          "%s was inside with %s, whose grant is newer, and was not notified"
              .formatted(visit.thread, visit.overlap));
    }
  }
}
