package io.mortise.cli.demo;

import java.time.Duration;

/**
 * The settings of a demo.
 *
 * @param processes worker processes, 2 to 32: one is killed, another has to go on
 * @param threads threads in each process, 1 to 32
 * @param stock articles to sell, 20 to 100 000
 * @param customers customers who want one; at least twice the stock, so that half of the processes
 *     could still sell everything
 * @param lease the lease of the lock, 500 ms to 60 s; a crash or a pause costs that time
 */
public record DemoSettings(int processes, int threads, int stock, int customers, Duration lease) {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(500);
  private static final Duration LONGEST_LEASE = Duration.ofSeconds(60);
  private static final int MOST_CUSTOMERS = 1_000_000;

  /** Checks each value; the message names its option. */
  public DemoSettings {
    within("--processes", processes, 2, 32);
    within("--threads", threads, 1, 32);
    within("--stock", stock, 20, 100_000);
    within("--customers", customers, 2 * stock, MOST_CUSTOMERS);
    if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
      throw new IllegalArgumentException(
          "--lease must be from 500ms to 60s, not " + lease.toMillis() + "ms");
    }
  }

  private static void within(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s must be from %d to %d, not %d".formatted(option, least, most, value));
    }
  }

  /** Returns the number of customers of this worker; workers count from 0. */
  int customersOf(int worker) {
    return customers / processes + (worker < customers % processes ? 1 : 0);
  }
}
