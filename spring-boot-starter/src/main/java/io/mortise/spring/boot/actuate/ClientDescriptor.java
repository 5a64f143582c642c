package io.mortise.spring.boot.actuate;

import io.mortise.core.LockClient;

/**
 * The resources that a client uses, as the endpoint shows them; see {@link LockClient.Status}.
 *
 * @param holds the leases that are held
 * @param contended the names that threads of the client hold or wait for
 * @param waiters the threads that are parked until they get a lock
 * @param pendingReleases the releases that are repeated in the background
 * @param unreachableServers the servers whose last command had no reply
 * @param droppedEvents the events that no listener was notified of
 */
public record ClientDescriptor(
    String clientId,
    String namespace,
    int holds,
    int contended,
    int waiters,
    int channels,
    int pendingReleases,
    int connectionsInUse,
    int unreachableServers,
    long droppedEvents) {

  static ClientDescriptor of(LockClient client) {
    LockClient.Status status = client.status();
    return new ClientDescriptor(
        client.id(),
        client.options().namespace(),
        status.holds(),
        status.contended(),
        status.waiters(),
        status.channels(),
        status.pendingReleases(),
        status.connectionsInUse(),
        status.unreachableServers(),
        status.droppedEvents());
  }
}
