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
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
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
                (builder, value) -> builder.tuning(tuning -> tuning.subscriptionLinger(value)),
                options -> options.tuning().subscriptionLinger()),
            ZERO,
            ofHours(1)),
        arguments(
            new Setting(
                "tokenRetention",
                (builder, value) -> builder.tuning(tuning -> tuning.tokenRetention(value)),
                options -> options.tuning().tokenRetention()),
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
    assertEquals(1, tuned(tuning -> tuning.maxConnections(1)).maxConnections());
    assertEquals(
        "maxConnections must be at least 1, not 0",
        assertThrows(
                IllegalArgumentException.class, () -> tuned(tuning -> tuning.maxConnections(0)))
            .getMessage());
  }

  @Test
  void theDefaultsAreThoseThatTheDocumentationNames() {
    assertEquals(
        LockOptions.builder()
            .namespace("")
            .lease(ofSeconds(30))
            .maxHold(ofDays(365))
            .outageTimeout(ofSeconds(10))
            .commandTimeout(ofSeconds(2))
            .acknowledgement(Acknowledgement.NONE)
            .traceLeases(false)
            .tuning(
                tuning ->
                    tuning
                        .maxConnections(64)
                        .subscriptionLinger(ofSeconds(5))
                        .tokenRetention(ofMinutes(10))
                        .clockDrift(0.01)
                        .maxHandOffs(100)
                        .maxHandOffTime(ofMillis(20)))
            .build(),
        LockOptions.defaults());
  }

  @Test
  void aBuilderMayStartFromOtherOptions() {
    LockOptions options =
        LockOptions.builder()
            .namespace("billing:")
            .lease(ofSeconds(1))
            .maxHold(ofMinutes(1))
            .outageTimeout(ofSeconds(2))
            .commandTimeout(ofSeconds(3))
            .acknowledgement(Acknowledgement.ofReplicas(1))
            .traceLeases(true)
            .tuning(
                tuning ->
                    tuning
                        .maxConnections(2)
                        .subscriptionLinger(ZERO)
                        .tokenRetention(ofHours(1))
                        .clockDrift(0.02)
                        .maxHandOffs(3)
                        .maxHandOffTime(ofMillis(4)))
            .build();

    assertEquals(options, options.toBuilder().build());
    assertEquals(options.hashCode(), options.toBuilder().build().hashCode());
    assertEquals("LockOptions[namespace=billing:, lease=PT1S", options.toString().substring(0, 42));
    for (LockOptions other :
        List.of(
            options.toBuilder().namespace("").build(),
            options.toBuilder().tuning(tuning -> tuning.maxHandOffs(0)).build())) {
      assertNotEquals(options, other);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"billing{", "a}{", "{b{", "{}", "a{}:", "{}{b}:"})
  void aNamespaceWhoseBraceMakesNoHashTagIsRefused(String namespace) {
    assertEquals(
        "namespace '"
            + namespace
            + "' has a '{' that makes no hash tag; close it with a '}' and something in between, or"
            + " leave it out",
        assertThrows(
                IllegalArgumentException.class,
                () -> LockOptions.builder().namespace(namespace).build())
            .getMessage());
  }

  @Test
  void aNamespaceMayBeAHashTagButNotVeryLong() {
    assertEquals("{b}:", LockOptions.builder().namespace("{b}:").build().namespace());
    assertThrows(
        IllegalArgumentException.class,
        () -> LockOptions.builder().namespace("n".repeat(513)).build());
  }

  /** Each lock of such a client would be refused. */
  @Test
  void aNamespaceWithHalfOfASurrogatePairIsRefused() {
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> LockOptions.builder().namespace("x\uD83D").build());

    assertTrue(refused.getMessage().contains("surrogate"), refused::getMessage);
  }

  @Test
  void listenersAreAddedInTheirOrderAndABuilderThatStartsFromOptionsHasThem() {
    LockListener first = event -> {};
    LockListener second = event -> {};
    LockOptions.Builder builder = LockOptions.builder().listener(first);
    LockOptions one = builder.build();
    LockOptions both = one.toBuilder().listener(second).build();
    builder.listener(second);

    assertEquals(List.of(), LockOptions.defaults().listeners());
    assertEquals(List.of(first), one.listeners());
    assertEquals(List.of(first, second), both.listeners());
    assertEquals(both, both.toBuilder().build());
    assertNotEquals(one, both);
    assertEquals(
        "listener",
        assertThrows(NullPointerException.class, () -> builder.listener(null)).getMessage());
  }

  private static LockTuning tuned(Consumer<LockTuning.Builder> settings) {
    return LockOptions.builder().tuning(settings).build().tuning();
  }

  @Test
  void aBuilderChangesOnlyTheGivenSetting() {
    LockOptions options = LEASE.with(ofMillis(100).plus(ofNanos(1)));

    assertEquals(ofNanos(100_000_001), options.lease());
    assertEquals(LockOptions.defaults().maxHold(), options.maxHold());
    assertEquals(LockOptions.defaults().outageTimeout(), options.outageTimeout());
    assertEquals(LockOptions.defaults().tuning(), options.tuning());
  }

  @Test
  void anAcknowledgementIsOfReplicasOrOnDisks() {
    assertFalse(Acknowledgement.NONE.isWanted());
    assertFalse(Acknowledgement.ofReplicas(0).isWanted());
    assertTrue(Acknowledgement.ofReplicas(0).onDisks().isWanted());
    Acknowledgement two = Acknowledgement.ofReplicas(2).within(ofSeconds(1));
    assertEquals(Acknowledgement.ofReplicas(2).within(ofSeconds(1)), two);
    assertNotEquals(two, two.onDisks());
    assertEquals("2 replicas and the disks within PT1S", two.onDisks().toString());
    assertEquals(two, LockOptions.builder().acknowledgement(two).build().acknowledgement());
    assertEquals(
        "replicas must not be negative, as -1 is",
        assertThrows(IllegalArgumentException.class, () -> Acknowledgement.ofReplicas(-1))
            .getMessage());
    assertThrows(IllegalArgumentException.class, () -> two.within(Duration.ZERO));
  }

  @Test
  void aClockDriftOutOfItsRangeIsRefused() {
    assertEquals(0.5, tuned(tuning -> tuning.clockDrift(0.5)).clockDrift());
    for (double wrong : new double[] {-0.001, 0.501, Double.NaN}) {
      LockOptions.Builder builder =
          LockOptions.builder().tuning(tuning -> tuning.clockDrift(wrong));
      assertEquals(
          "clockDrift must be from 0 to 0.5, not " + wrong,
          assertThrows(IllegalArgumentException.class, builder::build).getMessage());
    }
  }

  /** The classes use constants of each other. */
  @ParameterizedTest
  @ValueSource(classes = {LockOptions.class, LockTuning.class, Acknowledgement.class})
  void eachOfThemCanBeTheFirstThatIsUsed(Class<?> first) throws Exception {
    URL[] core = {first.getProtectionDomain().getCodeSource().getLocation()};
    try (URLClassLoader fresh = new URLClassLoader(core, ClassLoader.getPlatformClassLoader())) {
      assertNotSame(first, Class.forName(first.getName(), true, fresh));
    }
  }
}
