package io.mortise.core.spi;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

/** For what the client of any member can do: the first one that is open does it. */
public final class AnyClient {
  private AnyClient() {}

  /**
   * Does it by the first client that is open.
   *
   * @throws RejectedExecutionException if all are closed
   */
  public static <T> T of(List<? extends LeaseSource> sources, Function<LeaseSource, T> action) {
    RejectedExecutionException closed = new RejectedExecutionException("all clients are closed");
    for (LeaseSource source : sources) {
      try {
        return action.apply(source);
      } catch (RejectedExecutionException e) {
        closed.addSuppressed(e);
      }
    }
    throw closed;
  }
}
