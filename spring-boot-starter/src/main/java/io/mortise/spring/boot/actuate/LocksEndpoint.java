package io.mortise.spring.boot.actuate;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
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

  /**
   * Returns what the client has in use at this moment, for which nobody is asked; or with a name,
   * as {@link #lock}, the lock of that name.
   *
   * @param name a query parameter: the name without the client's namespace, as it is
   * @return a {@link ClientDescriptor}, or a {@link LockDescriptor}
   * @throws InvalidEndpointRequestException if no lock can have that name
   */
  @ReadOperation
  public Object locks(@Nullable String name) {
    return name == null ? ClientDescriptor.of(client) : inspected(name);
  }

  /**
   * Returns who holds the lock of that name and who waits for it, in all processes, of whatever
   * kind it is. Asks Redis.
   *
   * @param name the name without the client's namespace, in the path. It may have slashes, one at a
   *     time and none at either end: the path has lost the others, and {@link #locks} keeps them
   * @throws InvalidEndpointRequestException if no lock can have that name
   * @throws io.mortise.core.LockException if Redis cannot be used, or the key is no lock
   */
  @ReadOperation
  public LockDescriptor lock(@Selector(match = Match.ALL_REMAINING) String... name) {
    return inspected(String.join("/", name));
  }

  private LockDescriptor inspected(String name) {
    return LockDescriptor.of(lockOf(name).inspect());
  }

  private RedisLock lockOf(String name) {
    try {
      return client.lock(name);
    } catch (IllegalArgumentException e) {
      throw new InvalidEndpointRequestException(
          "'%s' is no name of a lock: %s".formatted(name, e.getMessage()), e.getMessage(), e);
    }
  }
}
