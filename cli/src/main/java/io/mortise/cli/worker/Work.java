package io.mortise.cli.worker;

/** What one thread of a worker process does in a chapter. */
@FunctionalInterface
public interface Work {

  /** Serves the customers of this till, and reports what it did. */
  void work(Till till) throws InterruptedException;
}
