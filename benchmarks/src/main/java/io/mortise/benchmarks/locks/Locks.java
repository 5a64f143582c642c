package io.mortise.benchmarks.locks;

import java.util.List;

/** One client of a library; makes the sections of all threads of its process. */
public interface Locks {

  /**
   * Returns a section for one thread.
   *
   * @param names one name, or several for {@link MeasuredLock#MULTI}
   * @param sharing who else locks them
   */
  Section section(MeasuredLock kind, List<String> names, NameSharing sharing);
}
