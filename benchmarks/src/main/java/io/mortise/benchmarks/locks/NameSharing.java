package io.mortise.benchmarks.locks;

/** Who else wants the names that a thread locks. */
public enum NameSharing {
  /** Nobody: each thread has names of its own. */
  NOBODY,
  /** The other threads of its process. */
  THREADS,
  /** The threads of other processes too. */
  PROCESSES
}
