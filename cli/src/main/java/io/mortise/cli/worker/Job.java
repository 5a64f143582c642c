package io.mortise.cli.worker;

import java.util.List;

/**
 * What a worker process is to do in one chapter.
 *
 * @param chapter whose work it is
 * @param role which part of that work; the chapter's own words
 * @param dataUri the Redis with what the locks protect
 * @param lockUris where the locks are; a client for each
 * @param lockName the name of the lock, and the prefix of the chapter's other keys
 * @param stock how many there are at the beginning
 * @param threads how many threads do the work at the same time
 * @param customers how many customers this process serves, spread over its threads
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

  /** How many of the customers the thread of this number, from 0, serves. */
  public int customersOf(int thread) {
    return customers / threads + (thread < customers % threads ? 1 : 0);
  }
}
