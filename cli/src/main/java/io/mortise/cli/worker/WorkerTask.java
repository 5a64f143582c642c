package io.mortise.cli.worker;

/** What one thread of a worker process does in a chapter. */
public interface WorkerTask {

  /**
   * Uses once what the work uses, on other names: the first lock of a JVM loads classes, and worker
   * processes of different age are to be equals. One thread does it, before the work begins.
   */
  default void warmUp(WorkerThreadContext till) throws InterruptedException {}

  /** Serves the customers of this till, and reports what it did. */
  void work(WorkerThreadContext till) throws InterruptedException;
}
