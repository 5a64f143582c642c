package io.mortise.core.internal;

import io.mortise.connection.concurrent.Signal;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.handoff.LocalQueue;
import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.util.Arrays;
import java.util.List;

/**
 * The types of the engine that tests look for on stacks and on the heap. A test that names them in
 * a string would find nothing, and pass, after a rename.
 */
public final class EngineTypes {
  /** The type in which a thread waits behind another thread of its client. */
  public static final Class<?> QUEUE = LocalQueue.class;

  /** The type in which a thread is parked until something changes in Redis. */
  public static final Class<?> PARKED = Signal.class;

  /** The engine itself, of which each open client has one. */
  public static final Class<?> ENGINE = RedisLockClient.class;

  /** The types of which each hold of a thread has some while another thread waits for it. */
  public static final List<Class<?>> PER_HOLD =
      List.of(RedisLease.class, LeaseStateMachine.class, LocalQueue.class, holdOfThread());

  private EngineTypes() {}

  private static Class<?> holdOfThread() {
    return Arrays.stream(ThreadOwnership.class.getDeclaredMethods())
        .flatMap(method -> Arrays.stream(method.getParameterTypes()))
        .filter(
            type ->
                Arrays.stream(type.getDeclaredFields())
                    .anyMatch(field -> field.getType() == OwnedLease.class))
        .findAny()
        .orElseThrow(() -> new IllegalStateException("no class has the lease of a thread"));
  }
}
