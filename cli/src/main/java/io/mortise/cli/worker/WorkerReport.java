package io.mortise.cli.worker;

/**
 * An event, and whose it is.
 *
 * @param worker the number of the process, from 0
 */
public record WorkerReport(int worker, WorkerEvent event) {}
