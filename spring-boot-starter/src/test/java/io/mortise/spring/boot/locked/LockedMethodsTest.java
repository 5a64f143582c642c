package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import io.mortise.spring.boot.locked.elsewhere.InheritedJob;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.annotation.AliasFor;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Mono;

/** A method that cannot be locked as its annotation says fails the start, and is named. */
class LockedMethodsTest {
  static class Blank {
    @Locked(name = " ")
    void run() {}
  }

  static class NoTemplate {
    @Locked(name = "a:#{#id")
    void run(String id) {}
  }

  static class UnknownParameter {
    @Locked(name = "a:#{#ids}")
    void run(String id) {}
  }

  static class NoDuration {
    @Locked(name = "a", waitTime = "soon")
    void run() {}
  }

  static class BareWait {
    @Locked(name = "a", waitTime = "5")
    void run() {}
  }

  static class BareLease {
    @Locked(name = "a", lease = "10")
    void run() {}
  }

  static class BareMinimum {
    @Locked(name = "a", atLeast = "+030")
    void run() {}
  }

  static class NegativeWait {
    @Locked(name = "a", waitTime = "-5s")
    void run() {}
  }

  static class ShortLease {
    @Locked(name = "a", lease = "0s")
    void run() {}
  }

  static class LongLease {
    @Locked(name = "a", lease = "400d")
    void run() {}
  }

  static class NegativeMinimum {
    @Locked(name = "a", atLeast = "-1s")
    void run() {}
  }

  static class VeryLongMinimum {
    @Locked(name = "a", atLeast = "400d")
    void run() {}
  }

  static class OpenBrace {
    @Locked(name = "a{")
    void run() {}
  }

  static class LongMinimum {
    @Locked(name = "a", lease = "1s", atLeast = "2s")
    void run() {}
  }

  static class SkippedPrimitive {
    @Locked(name = "a", whenBusy = WhenBusy.SKIP)
    int run() {
      return 1;
    }
  }

  static class NoFallback {
    @Locked(name = "a", fallback = "other")
    void run(String id) {}

    void other() {}
  }

  static class OtherFallback {
    @Locked(name = "a", fallback = "other")
    String run() {
      return "";
    }

    int other() {
      return 1;
    }
  }

  static class TwoAnswers {
    @Locked(name = "a", fallback = "other", whenBusy = WhenBusy.SKIP)
    void run() {}

    void other() {}
  }

  static class Final {
    @Locked(name = "a")
    final void run() {}
  }

  static class Private {
    @Locked(name = "a")
    @SuppressWarnings("UnusedMethod") // by name
    private void run() {}
  }

  static class Initialized {
    @Locked(name = "a")
    @PostConstruct
    void run() {}
  }

  static class InitializedByOverride extends Initialized {
    @Override
    void run() {}
  }

  static class Destroyed {
    @Locked(name = "a")
    @PreDestroy
    void run() {}
  }

  static class Inheriting extends InheritedJob {}

  static class InheritingOpened extends InheritedJob.Opened {}

  static class InheritingProtected extends InheritedJob.Protected {}

  static class Reactive {
    @Locked(name = "a")
    Mono<String> run() {
      return Mono.empty();
    }
  }

  static class Later {
    @Locked(name = "a")
    Future<String> run() {
      throw new UnsupportedOperationException();
    }
  }

  static class Called {
    @Locked(name = "a")
    Callable<String> run() {
      return () -> "";
    }
  }

  static class Streaming {
    @Locked(name = "a")
    SseEmitter run() {
      return new SseEmitter();
    }
  }

  static class Written {
    @Locked(name = "a")
    StreamingResponseBody run() {
      return out -> {};
    }
  }

  static List<Map.Entry<Class<?>, String>> refused() {
    return List.of(
        Map.entry(Blank.class, "blank"),
        Map.entry(NoTemplate.class, "template"),
        Map.entry(UnknownParameter.class, "the parameters are [id]"),
        Map.entry(NoDuration.class, "waitTime 'soon' is no duration"),
        Map.entry(BareWait.class, "waitTime '5' has no unit, and would be milliseconds"),
        Map.entry(BareLease.class, "write 10s or 10ms"),
        Map.entry(BareMinimum.class, "atLeast '+030' has no unit"),
        Map.entry(NegativeWait.class, "waitTime 'PT-5S' is negative; 0s makes one attempt"),
        Map.entry(ShortLease.class, "lease 'PT0S' is shorter than 1 ms"),
        Map.entry(LongLease.class, "lease 'PT9600H' is shorter than 1 ms, or longer than 365 days"),
        Map.entry(NegativeMinimum.class, "atLeast 'PT-1S' is negative"),
        Map.entry(VeryLongMinimum.class, "longer than the lease or 365 days"),
        Map.entry(OpenBrace.class, "'a{' has a '{' that makes no hash tag"),
        Map.entry(LongMinimum.class, "longer than the lease"),
        Map.entry(Initialized.class, "@PostConstruct on the object itself"),
        Map.entry(InitializedByOverride.class, "@PostConstruct on the object itself"),
        Map.entry(Destroyed.class, "@PreDestroy on the object itself"),
        Map.entry(SkippedPrimitive.class, "int has no empty value"),
        Map.entry(NoFallback.class, "'other' is no other method of NoFallback"),
        Map.entry(OtherFallback.class, "returns int"),
        Map.entry(TwoAnswers.class, "remove one"),
        Map.entry(Final.class, "private, static or final"),
        Map.entry(Private.class, "private, static or final"),
        Map.entry(Reactive.class, "(Mono)"),
        Map.entry(Later.class, "(Future)"),
        Map.entry(Called.class, "(Callable)"),
        Map.entry(Streaming.class, "(SseEmitter)"),
        Map.entry(Written.class, "(StreamingResponseBody)"));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void itIsRefused(Map.Entry<Class<?>, String> refused) {
    LockedMethods methods = new LockedMethods(text -> text);

    assertThatThrownBy(() -> methods.isIn(refused.getKey()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("@Locked on " + refused.getKey().getSimpleName() + ".run(")
        .hasMessageContaining(refused.getValue());
  }

  @Test
  void aMethodThatAProxyInAnotherPackageDoesNotSeeIsRefused() {
    LockedMethods methods = new LockedMethods(text -> text);

    assertThatThrownBy(() -> methods.isIn(Inheriting.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("@Locked on InheritedJob.run()")
        .hasMessageContaining("Inheriting")
        .hasMessageContaining("public or protected");
    assertThat(methods.isIn(InheritedJob.class)).isTrue();
    assertThat(methods.isIn(InheritingProtected.class)).isTrue();
    assertThat(methods.isIn(InheritingOpened.class)).isTrue();
  }

  abstract static class Job<T, R> {
    @Locked(name = "a", fallback = "later")
    public @Nullable R run(T in) {
      return null;
    }

    abstract R later(T in);
  }

  static class Order extends Job<String, Optional<String>> {
    @Override
    Optional<String> later(String in) {
      return Optional.of(in);
    }
  }

  /** Its own method, and not the bridge of that, has the type of the result. */
  @Test
  void aFallbackMayImplementThatOfAGenericClass() {
    assertThat(new LockedMethods(text -> text).isIn(Order.class)).isTrue();
  }

  static class OneAttempt {
    @Locked(name = "a", waitTime = "0", atLeast = "00")
    void run() {}
  }

  @Test
  void zeroNeedsNoUnit() throws Exception {
    LockedMethod method =
        new LockedMethods(text -> text)
            .find(OneAttempt.class.getDeclaredMethod("run"), OneAttempt.class)
            .get();
    assertThat(method.waitTime()).contains(Duration.ZERO);
    assertThat(method.atLeast()).isZero();
  }

  @Locked(name = "", waitTime = "0s", atLeast = "5m", whenBusy = WhenBusy.SKIP)
  @Retention(RetentionPolicy.RUNTIME)
  @interface OnOneNode {
    @AliasFor(annotation = Locked.class, attribute = "name")
    String value();

    @AliasFor(annotation = Locked.class)
    String atLeast() default "5m";
  }

  static class Composed {
    @OnOneNode("report:#{#day}")
    public void run(String day) {}

    @OnOneNode(value = "invoices", atLeast = "1h")
    public void other() {}
  }

  @Test
  void anAnnotationOfTheApplicationMayBeMadeOfIt() throws Exception {
    LockedMethods methods = new LockedMethods(text -> text);

    assertThat(LockedMethods.isAnnotated(Composed.class)).isTrue();
    LockedMethod run =
        methods.find(Composed.class.getMethod("run", String.class), Composed.class).get();
    assertThat(run.name().evaluate(new Composed(), new Object[] {"monday"}))
        .isEqualTo("report:monday");
    assertThat(run.waitTime()).contains(Duration.ZERO);
    assertThat(run.atLeast()).isEqualTo(Duration.ofMinutes(5));
    LockedMethod other = methods.find(Composed.class.getMethod("other"), Composed.class).get();
    assertThat(other.atLeast()).isEqualTo(Duration.ofHours(1));
  }

  static class Twice {
    @Locked(name = "first")
    @OnOneNode("second")
    public void run() {}
  }

  /** Otherwise one of the two would be left out without a word. */
  @Test
  void aMethodWithTwoLocksIsRefused() {
    assertThatThrownBy(() -> new LockedMethods(text -> text).isIn(Twice.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("Twice.run() has @Locked more than once");
  }

  static class Unlocked {
    void run() {}
  }

  interface Contract {
    @Locked(name = "a:#{#p0}")
    String run(String id);
  }

  static class Implementation implements Contract {
    @Override
    public String run(String anything) {
      return anything;
    }
  }

  @Test
  void theAnnotationOfAnInterfaceCounts() throws Exception {
    LockedMethods methods = new LockedMethods(text -> text);

    assertThat(methods.isIn(Unlocked.class)).isFalse();
    assertThat(methods.isIn(Implementation.class)).isTrue();
    LockedMethod method =
        methods.find(Contract.class.getMethod("run", String.class), Implementation.class).get();
    assertThat(method.name().evaluate(new Implementation(), new Object[] {"7"})).isEqualTo("a:7");
  }
}
