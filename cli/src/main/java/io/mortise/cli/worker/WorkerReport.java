package io.mortise.cli.worker;

/**
 * An event of one worker.
 *
 * @param worker the number of the process, from 0
 */
public record WorkerReport(int worker, WorkerEvent event) {}
