package io.mortise.core;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.mortise.core.LockOptions.Acknowledgement;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockOptionsTest {

  /** One setting. */
  private record Setting(
      String name,
      BiFunction<LockOptions.Builder, Duration, LockOptions.Builder> set,
      Function<LockOptions, Duration> get) {
    LockOptions with(Duration value) {
      return set.apply(LockOptions.builder(), value).build();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final Setting LEASE =
      new Setting("lease", LockOptions.Builder::lease, LockOptions::lease);

  static Stream<Arguments> ranges() {
    return Stream.of(
        arguments(LEASE, ofMillis(100), ofDays(365)),
        arguments(
            new Setting("maxHold", LockOptions.Builder::maxHold, LockOptions::maxHold),
            ofSeconds(30), // the lease
            ofDays(365)),
        arguments(
            new Setting(
                "outageTimeout", LockOptions.Builder::outageTimeout, LockOptions::outageTimeout),
            ZERO,
            ofDays(365)),
        arguments(
            new Setting(
                "commandTimeout", LockOptions.Builder::commandTimeout, LockOptions::commandTimeout),
            ofMillis(10),
            ofMinutes(10)),
        arguments(
            new Setting(
                "subscriptionLinger",
                LockOptions.Builder::subscriptionLinger,
                LockOptions::subscriptionLinger),
            ZERO,
            ofHours(1)),
        arguments(
            new Setting(
                "tokenRetention", LockOptions.Builder::tokenRetention, LockOptions::tokenRetention),
            ofSeconds(1),
            ofDays(365)));
  }

  @ParameterizedTest
  @MethodSource("ranges")
  void theEndsOfTheRangeAreInIt(Setting setting, Duration least, Duration most) {
    assertEquals(least, setting.get().apply(setting.with(least)));
    assertEquals(most, setting.get().apply(setting.with(most)));
  }

  @ParameterizedTest
  @MethodSource("ranges")
  void aValueOutsideIsRefusedWithNameRangeAndValue(Setting setting, Duration least, Duration most) {
    for (Duration outside : new Duration[] {least.minusNanos(1), most.plusNanos(1)}) {
      assertEquals(
          setting.name() + " must be from " + least + " to " + most + ", not " + outside,
          assertThrows(IllegalArgumentException.class, () -> setting.with(outside)).getMessage());
    }
  }

  @ParameterizedTest
  @MethodSource("ranges")
  void nullIsRefusedWithTheName(Setting setting, Duration least, Duration most) {
    assertEquals(
        setting.name(),
        assertThrows(NullPointerException.class, () -> setting.with(null)).getMessage());
  }

  @Test
  void theLongestHoldIsNotShorterThanTheLease() {
    LockOptions.Builder builder =
        LockOptions.builder().lease(ofMinutes(1)).maxHold(ofMinutes(1).minusNanos(1));

    assertEquals(
        "maxHold must be from PT1M to PT8760H, not PT59.999999999S",
        assertThrows(IllegalArgumentException.class, builder::build).getMessage());
    assertEquals(ofMinutes(1), builder.maxHold(ofMinutes(1)).build().maxHold());
  }

  @Test
  void thereIsAtLeastOneConnection() {
    assertEquals(1, LockOptions.builder().maxConnections(1).build().maxConnections());
    assertEquals(
        "maxConnections must be at least 1, not 0",
        assertThrows(
                IllegalArgumentException.class,
                () -> LockOptions.builder().maxConnections(0).build())
            .getMessage());
  }

  @Test
  void theDefaultsAreThoseThatTheDocumentationNames() {
    assertEquals(
        new LockOptions(
            ofSeconds(30),
            ofDays(365),
            ofSeconds(10),
            ofSeconds(2),
            64,
            ofSeconds(5),
            ofMinutes(10),
            0.01,
            100,
            ofMillis(20),
            Acknowledgement.NONE,
            false),
        LockOptions.defaults());
    assertEquals(LockOptions.defaults(), LockOptions.builder().build());
  }

  @Test
  void aBuilderChangesOnlyTheGivenSetting() {
    LockOptions options = LEASE.with(ofMillis(100).plus(ofNanos(1)));

    assertEquals(ofNanos(100_000_001), options.lease());
    assertEquals(LockOptions.defaults().maxHold(), options.maxHold());
    assertEquals(LockOptions.defaults().outageTimeout(), options.outageTimeout());
    assertEquals(LockOptions.defaults().tokenRetention(), options.tokenRetention());
  }

  @Test
  void anAcknowledgementIsOfReplicasOrOnDisks() {
    assertFalse(Acknowledgement.NONE.isWanted());
    assertFalse(Acknowledgement.ofReplicas(0).isWanted());
    assertTrue(Acknowledgement.ofReplicas(0).onDisks().isWanted());
    Acknowledgement two = Acknowledgement.ofReplicas(2).within(ofSeconds(1));
    assertEquals(new Acknowledgement(2, false, ofSeconds(1)), two);
    assertEquals(two, LockOptions.builder().acknowledgement(two).build().acknowledgement());
    assertEquals(
        "replicas must not be negative, as -1 is",
        assertThrows(IllegalArgumentException.class, () -> Acknowledgement.ofReplicas(-1))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> two.within(Duration.ZERO));
  }

  @Test
  void aClockDriftOutOfItsRangeIsRefused() {
    assertEquals(0.01, LockOptions.defaults().clockDrift());
    assertEquals(0.5, LockOptions.builder().clockDrift(0.5).build().clockDrift());
    for (double wrong : new double[] {-0.001, 0.501, Double.NaN}) {
      LockOptions.Builder builder = LockOptions.builder().clockDrift(wrong);
      assertEquals(
          "clockDrift must be from 0 to 0.5, not " + wrong,
          assertThrows(IllegalArgumentException.class, builder::build).getMessage());
    }
  }

  /** The records use constants of each other. */
  @ParameterizedTest
  @ValueSource(classes = {LockOptions.class, LockOptions.Builder.class, Acknowledgement.class})
  void eachOfThemCanBeTheFirstThatIsUsed(Class<?> first) throws Exception {
    URL[] core = {first.getProtectionDomain().getCodeSource().getLocation()};
    try (URLClassLoader fresh = new URLClassLoader(core, ClassLoader.getPlatformClassLoader())) {
      assertNotSame(first, Class.forName(first.getName(), true, fresh));
    }
  }
}
