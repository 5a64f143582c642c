package io.mortise.cli.timeline;

/** A stretch of time in which a thread is in a state of its own. Both count from 0. */
public record Span(int worker, int thread, String label, long fromNanos, long toNanos) {}
