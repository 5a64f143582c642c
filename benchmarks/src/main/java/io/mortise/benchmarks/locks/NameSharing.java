package io.mortise.benchmarks.locks;

/** The sharing of names: a thread's own, or locked by other threads and processes too. */
public enum NameSharing {
  /** Nobody: each thread has its own names. */
  NOBODY,
  /** The other threads of its process. */
  THREADS,
  /** The threads of other processes too. */
  PROCESSES,
  /** The threads of all processes; each thread has a client of its own, with its connections. */
  CLIENTS
}
