package io.mortise.cli.timeline;

/** A time in which a thread is in a special state. Workers and threads count from 0. */
public record Span(int worker, int thread, String label, long fromNanos, long toNanos) {}
