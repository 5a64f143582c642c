package io.mortise.it.support;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives a wait without a limit of its own the limit of {@link Eventually}, instead of Awaitility's
 * 10 s. JUnit finds it as a service, for all classes of this module.
 */
public final class GenerousAwaits implements BeforeAllCallback {
  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(Eventually.LIVENESS);
  }
}
