package io.mortise.fencing;

/**
 * Thrown when a write has a fencing token that is smaller than the largest one that the resource
 * has seen: its lock has had another holder since. Nothing was written.
 */
public final class StaleTokenException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String resource;
  private final long token;
  private final long lastToken;

  StaleTokenException(String resource, long token, long lastToken) {
    super(
        ("resource '%s': rejected a write with fencing token %d, because it has seen %d;"
                + " this holder has lost its lock to a later one and must stop")
            .formatted(resource, token, lastToken));
    this.resource = resource;
    this.token = token;
    this.lastToken = lastToken;
  }

  /** Returns the name of the resource. */
  public String resource() {
    return resource;
  }

  /** Returns the token of the write that was rejected. */
  public long token() {
    return token;
  }

  /** Returns the largest token that the resource has seen. */
  public long lastToken() {
    return lastToken;
  }
}
