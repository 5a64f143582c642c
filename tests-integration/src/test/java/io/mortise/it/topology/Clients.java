package io.mortise.it.topology;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/**
 * Two clients that share nothing but the servers, and what has to be closed after them.
 *
 * @param more what closes the rest, in this order
 */
record Clients(LockClient here, LockClient there, List<Runnable> more) implements AutoCloseable {

  /** The default lease of both, as the contracts expect it. */
  static Clients of(
      Function<LockOptions, LockClient> here,
      Function<LockOptions, LockClient> there,
      Runnable... more) {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(1)).build();
    return new Clients(here.apply(options), there.apply(options), List.of(more));
  }

  @Override
  public void close() {
    here.close();
    there.close();
    more.forEach(Runnable::run);
  }
}
