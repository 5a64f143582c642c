package io.mortise.connection.pubsub;

/**
 * The times of subscriptions.
 *
 * @param lingerNanos how long a channel stays after its last waiter
 * @param heartbeatNanos how long a connection may be silent before a heartbeat is sent
 * @param answerNanos how long its answer may take, and connecting
 */
public record SubscriptionTimings(long lingerNanos, long heartbeatNanos, long answerNanos) {}
