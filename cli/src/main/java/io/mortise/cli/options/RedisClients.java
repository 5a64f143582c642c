package io.mortise.cli.options;

import io.mortise.core.LockClient;
import java.util.List;

/**
 * A client for each server that the options name.
 *
 * @param servers their URIs without user and password, for messages
 * @param all the clients, in the same order; at least one
 */
public record RedisClients(List<String> servers, List<LockClient> all) implements AutoCloseable {

  /** Returns whether several servers make up a quorum. */
  public boolean isQuorum() {
    return all.size() > 1;
  }

  /** Returns the servers as one text. */
  public String described() {
    return String.join(", ", servers);
  }

  /** Closes all clients, also if one fails to. */
  @Override
  public void close() {
    closeFrom(0);
  }

  private void closeFrom(int index) {
    if (index < all.size()) {
      LockClient client = all.get(index);
      try (client) {
        closeFrom(index + 1);
      }
    }
  }
}
