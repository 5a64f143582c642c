package io.mortise.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A loss tells when it happened, here and in another process. */
class LeaseLossTest {
  private static final Duration AGO = Duration.ofHours(2);
  private static final Duration SLACK = Duration.ofMinutes(1);

  private final LeaseLoss loss =
      new LeaseLoss("orders", 7, Reason.EXPIRED, System.nanoTime() - AGO.toNanos(), "too late");

  private static void assertAround(Duration expected, Duration actual) {
    assertTrue(actual.minus(expected).abs().compareTo(SLACK) < 0, actual::toString);
  }

  @Test
  void theInstantAndTheAgeAgree() {
    assertAround(AGO, loss.age());
    assertAround(AGO, Duration.between(loss.at(), Instant.now()));
  }

  @Test
  void anExceptionKeepsItsLossWhenItIsSerialized() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(new LeaseLostException(loss));
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      LeaseLoss read = ((LeaseLostException) in.readObject()).loss();

      assertEquals(loss, read);
      assertEquals(loss.hashCode(), read.hashCode());
      assertAround(AGO, read.age());
    }
  }
}
