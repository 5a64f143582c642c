package io.mortise.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The observation of one wait. A handler that throws, even an {@code Error}, is logged, and has no
 * effect on the lock: an exception after the grant would leave a hold that nobody releases.
 *
 * <p><b>Threads.</b> The thread that asks for the lock starts it. The same thread closes its scope,
 * if it has one. One thread ends it.
 */
final class LockWaitObservation {
  private static final Logger LOG = LoggerFactory.getLogger(LockWaitObservation.class);

  private final ObservationRegistry registry;
  private final LockWaitContext context;
  private final Observation observation;

  /** The scope of the caller; what is current when this observation is not. */
  private Observation.@Nullable Scope before;

  private Observation.@Nullable Scope scope;

  private LockWaitObservation(
      ObservationRegistry registry, LockWaitContext context, Observation observation) {
    this.registry = registry;
    this.context = context;
    this.observation = observation;
  }

  /** Starts the observation. Its parent is the current observation of this thread. */
  static LockWaitObservation start(
      ObservationRegistry registry, LockWaitConvention convention, String lockName) {
    LockWaitContext context = new LockWaitContext(lockName);
    Observation observation = Observation.NOOP;
    try {
      observation = Observation.start(convention, () -> context, registry);
    } catch (Throwable e) { // an Error too
      logFailure(context, e);
    }
    return new LockWaitObservation(registry, context, observation);
  }

  /** Makes it the current observation of this thread until it ends. */
  LockWaitObservation openScope() {
    before = registry.getCurrentObservationScope();
    try {
      scope = observation.openScope();
    } catch (Throwable e) {
      restoreScope();
      logFailure(context, e);
    }
    return this;
  }

  /** A handler that throws leaves its scope on the thread, opened or closed by halves. */
  private void restoreScope() {
    registry.setCurrentObservationScope(before);
  }

  LockWaitContext context() {
    return context;
  }

  /**
   * Ends the observation.
   *
   * @param thrown what the caller gets; null if it gets a result
   */
  void end(AcquireOutcome outcome, @Nullable Throwable thrown) {
    context.setOutcome(outcome);
    if (scope != null) {
      attempt(scope::close);
      restoreScope();
    }
    attempt(
        () -> {
          if (thrown != null) {
            observation.error(thrown);
          }
        });
    attempt(observation::stop);
  }

  private void attempt(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      logFailure(context, e);
    }
  }

  private static void logFailure(LockWaitContext context, Throwable e) {
    try {
      LOG.warn(
          "lock '{}': a handler of observations failed; the lock is not affected",
          context.lockName(),
          e);
    } catch (Throwable noLog) {
      // There is no memory even for a message.
    }
  }
}
