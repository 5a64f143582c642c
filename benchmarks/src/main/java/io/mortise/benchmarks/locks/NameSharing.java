package io.mortise.benchmarks.locks;

/** Who else locks the names of a thread. */
public enum NameSharing {
  /** Nobody: each thread has its own names. */
  NOBODY,
  /** The other threads of its process. */
  THREADS,
  /** The threads of other processes too. */
  PROCESSES
}
