package io.mortise.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a handler throws, the caller gets the result of the lock. */
class LockWaitObservationTest {

  /** Throws an error in one step. */
  private static final class Broken implements ObservationHandler<LockWaitContext> {
    private final String brokenStep;
    private final List<String> steps = new ArrayList<>();

    Broken(String brokenStep) {
      this.brokenStep = brokenStep;
    }

    private void step(String step) {
      steps.add(step);
      if (step.equals(brokenStep)) {
        throw new AssertionError(step);
      }
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return true;
    }

    @Override
    public void onStart(LockWaitContext context) {
      step("start");
    }

    @Override
    public void onScopeOpened(LockWaitContext context) {
      step("open");
    }

    @Override
    public void onScopeClosed(LockWaitContext context) {
      step("close");
    }

    @Override
    public void onError(LockWaitContext context) {
      step("error");
    }

    @Override
    public void onStop(LockWaitContext context) {
      step("stop");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"start", "open", "close", "error", "stop"})
  void anErrorOfAHandlerDoesNotReachTheCaller(String step) {
    ObservationRegistry registry = ObservationRegistry.create();
    Broken handler = new Broken(step);
    registry.observationConfig().observationHandler(handler);

    LockWaitObservation.start(registry, LockWaitConvention.defaults(), "orders")
        .openScope()
        .end(AcquireOutcome.ERROR, new IllegalStateException("no Redis"));

    assertEquals(1, handler.steps.stream().filter(step::equals).count());
    assertNull(registry.getCurrentObservation());
  }
}
