package io.mortise.cli.worker;

/** The task of the threads of a worker process in a chapter. */
public interface WorkerTask {

  /**
   * Loads the classes of the task by using its locks once, under other names, so that worker
   * processes of different age are equal. One thread does it, before the task begins.
   */
  default void warmUp(WorkerThreadContext context) throws InterruptedException {}

  /** Serves the customers of this thread, and reports its holds. */
  void work(WorkerThreadContext context) throws InterruptedException;
}
