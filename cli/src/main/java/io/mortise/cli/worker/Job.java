package io.mortise.cli.worker;

import java.util.List;

/**
 * The job of a worker process in one chapter.
 *
 * @param chapter its chapter
 * @param role its part in the chapter, in a format of the chapter
 * @param dataUri the Redis with the data that the locks protect
 * @param lockUris the servers of the locks; a client for each
 * @param lockName the name of the lock, and the prefix of the chapter's other keys
 * @param stock the articles at the beginning
 * @param threads the threads of this process
 * @param customers the customers that this process serves, spread over its threads
 * @param leaseMillis the default lease of the worker's lock clients
 */
public record Job(
    String chapter,
    String role,
    String dataUri,
    List<String> lockUris,
    String lockName,
    int stock,
    int threads,
    int customers,
    long leaseMillis) {

  /** Keeps a copy of the list. */
  public Job {
    lockUris = List.copyOf(lockUris);
  }

  /** Returns the number of customers of this thread; threads count from 0. */
  public int customersOf(int thread) {
    return customers / threads + (thread < customers % threads ? 1 : 0);
  }
}
