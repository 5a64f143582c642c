package io.mortise.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observation of a wait, and its key values. The defaults are {@code mortise.lock.wait},
 * {@code lock wait} for the span, {@code outcome} with low cardinality, and with high cardinality
 * {@code mortise.lock.name} and, of a handle, {@code mortise.lock.token}.
 *
 * <p>A handler that makes meters of observations makes a tag of each value of low cardinality: an
 * implementation must not put the name of a lock there.
 */
public interface LockWaitConvention extends ObservationConvention<LockWaitContext> {

  /** Returns the defaults. */
  static LockWaitConvention defaults() {
    return new LockWaitConvention() {};
  }

  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof LockWaitContext;
  }

  @Override
  default String getName() {
    return "mortise.lock.wait";
  }

  @Override
  default String getContextualName(LockWaitContext context) {
    return "lock wait";
  }

  @Override
  default KeyValues getLowCardinalityKeyValues(LockWaitContext context) {
    return KeyValues.of("outcome", context.outcome().orElse(KeyValue.NONE_VALUE));
  }

  @Override
  default KeyValues getHighCardinalityKeyValues(LockWaitContext context) {
    KeyValues name = KeyValues.of("mortise.lock.name", context.lockName());
    return context
        .fencingToken()
        .map(token -> name.and("mortise.lock.token", token.toString()))
        .orElse(name);
  }
}
