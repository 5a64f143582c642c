package io.mortise.fencing;

/**
 * A write came with a fencing token that is older than the last one which the resource has seen:
 * its lock has had another holder since. Nothing was written.
 */
public final class StaleTokenException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String resource;
  private final long token;
  private final long lastToken;

  StaleTokenException(String resource, long token, long lastToken) {
    super(
        "resource '%s': refused a write with fencing token %d, because one with %d has been here; this holder has lost its lock to a later one, and must not go on"
            .formatted(resource, token, lastToken));
    this.resource = resource;
    this.token = token;
    this.lastToken = lastToken;
  }

  /** The name of the resource. */
  public String resource() {
    return resource;
  }

  /** The token of the write that was refused. */
  public long token() {
    return token;
  }

  /** The largest token that the resource has seen. */
  public long lastToken() {
    return lastToken;
  }
}
