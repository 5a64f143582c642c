package io.mortise.spring.boot.actuate;

import io.mortise.core.LockClient;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * The endpoint {@code locks}: what this client has in use, and who holds and who waits for the lock
 * of a name.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
@Endpoint(id = "locks")
public final class LocksEndpoint {
  private final LockClient client;

  /** Creates the endpoint of that client. */
  public LocksEndpoint(LockClient client) {
    this.client = client;
  }

  /** Returns what the client has in use at this moment. Asks nobody. */
  @ReadOperation
  public ClientDescriptor locks() {
    return ClientDescriptor.of(client);
  }

  /**
   * Returns who holds the lock of that name and who waits for it, in all processes, of whatever
   * kind it is. Asks Redis.
   *
   * @param name the name without the client's namespace; it may have slashes
   * @throws io.mortise.core.LockException if Redis cannot be used, or the key is no lock
   */
  @ReadOperation
  public LockDescriptor lock(@Selector(match = Match.ALL_REMAINING) String... name) {
    return LockDescriptor.of(client.lock(String.join("/", name)).inspect());
  }
}
