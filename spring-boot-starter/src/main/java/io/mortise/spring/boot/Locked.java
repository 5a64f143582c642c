package io.mortise.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method while its caller holds a distributed lock.
 *
 * <pre>{@code
 * @Locked(name = "stock:#{#article}", waitTime = "5s")
 * @Transactional
 * public int sell(String article) { … }
 *
 * @Scheduled(cron = "0 0 2 * * *")
 * @Locked(name = "report", waitTime = "0s", atLeast = "5m", whenBusy = WhenBusy.SKIP)
 * public void report() { … }
 * }</pre>
 *
 * <p><b>Release.</b> The lock is released when the method has ended. If a transaction is active
 * when the method is called, the lock is released when that transaction has ended, because others
 * may read what it wrote only then. So the order of the advisors of {@code @Locked} and
 * {@code @Transactional} does not decide whether the release is after the commit.
 *
 * <p><b>A loss.</b> If the lease was lost before the method ended, the caller gets a {@code
 * LeaseLostException} in place of the result. In a transaction that was active when the method was
 * called, a loss is thrown until the commit, by the method or by the commit, and rolls the
 * transaction back. A release that Redis has not confirmed, or has refused, is logged, and the client
 * repeats it. The caller gets a {@code LockException} in place of the result where the hold may have
 * been lost: with the reason {@code IN_DOUBT}, or with {@code WRONG_TYPE} where something has
 * overwritten its key.
 *
 * <p><b>Owner.</b> The calling thread owns the lock, so methods with the same lock may call each
 * other. A method that returns a {@code CompletableFuture} or {@code CompletionStage} keeps the
 * lock until the stage has completed; its hold belongs to no thread, so such a call inside another
 * one waits for itself. It is refused in a transaction, which ends before the stage does. The wait
 * for the lock blocks the caller in any case. Other types whose work goes on after the method has
 * returned ({@code Mono}, {@code Flux}, {@code Future}, {@code Callable}, Kotlin's suspending
 * functions, {@code DeferredResult}, {@code WebAsyncTask}, {@code SseEmitter} and {@code
 * StreamingResponseBody} of Spring MVC) are refused. The type is that in the class of the bean: a
 * type variable counts as what is in its place. A method that is declared to return something else,
 * such as {@code Object}, and returns one of these or a stage, fails with an {@code
 * IllegalStateException} after the release. What a {@code Stream}, an {@code Iterator} or a {@code
 * Supplier} computes later, it computes without the lock.
 *
 * <p><b>Checks.</b> A bean with a {@code @Locked} method is checked when it is made. The text of
 * the name, the durations, the fallback, the return type, and whether a proxy can reach the method:
 * anything wrong fails the start, with a message that names the method. A proxy does not reach a
 * private, static or final method, or one of a superclass in another package that is neither public
 * nor protected, or a call of Spring's own to a method with {@code @PostConstruct} or
 * {@code @PreDestroy}. Nor is there one for a bean that is made too early, because a {@code
 * BeanPostProcessor} needs it: that fails the start too, with a message that names the bean.
 *
 * <p><b>On a schedule.</b> A {@code @Scheduled} method runs on each node. Without a {@link
 * #waitTime} the nodes run it one after the other: each waits until the lock is free. The start
 * logs a warning that names such methods.
 *
 * <p><b>In an annotation of the application's own.</b> An annotation with {@code @Locked} counts as
 * one, and Spring's {@code @AliasFor} gives it attributes:
 *
 * <pre>{@code
 * @Locked(name = "", waitTime = "0s", atLeast = "5m", whenBusy = WhenBusy.SKIP)
 * @Target(ElementType.METHOD)
 * @Retention(RetentionPolicy.RUNTIME)
 * @interface OnOneNode {
 *   @AliasFor(annotation = Locked.class, attribute = "name")
 *   String value();
 * }
 * }</pre>
 *
 * <p><b>Not guaranteed.</b> Like all advice, it runs only for calls through the bean: a call of
 * {@code this.sell(…)} takes no lock. What holds of leases in general holds here; {@link
 * CurrentLease} has the fencing token.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Locked {

  /**
   * Returns the name of the lock, in the client's namespace: a template with SpEL expressions in
   * <code>#{…}</code> over the arguments, by name ({@code #id}) or position ({@code #a0}), and with
   * placeholders of properties in <code>${…}</code>. An expression that yields null, or that cannot
   * be evaluated, fails the call, or its stage. A template without expressions is the name itself,
   * and has to be one without a namespace too.
   *
   * <p>A parameter outside of an expression, as in {@code order:#id}, would be the same text for
   * all arguments, and is refused; so is <code>order:#{id}</code>, where the bean has no property
   * of that name: both are <code>order:#{#id}</code>. The text itself is <code>#{'#id'}</code>.
   */
  String name();

  /** Returns the kind of the lock. */
  LockType type() default LockType.PLAIN;

  /**
   * Returns how long the caller waits for the lock, as {@code 5s} or {@code PT5S}, or a
   * placeholder; zero makes one attempt, and less is refused, as is a number without a unit other
   * than 0. Empty: the property {@code mortise.locked.wait-time}, by default 10 s.
   */
  String waitTime() default "";

  /**
   * Returns the lease, which is not renewed: the hold ends with it. From 1 ms to 365 days, with a
   * unit. Empty: the client's lease, which is renewed until the release.
   */
  String lease() default "";

  /**
   * Returns for how long the lock stays busy after its acquisition, although the method has ended.
   * For jobs that several nodes start at the same time. Not longer than the lease, if that is
   * given, and at most 365 days, with a unit. Empty: no minimum.
   */
  String atLeast() default "";

  /** Returns what happens when the lock is not acquired within the wait. */
  WhenBusy whenBusy() default WhenBusy.THROW;

  /**
   * Returns the name of a method of the same class that is called, without the lock, when the lock
   * is not acquired within the wait. It has the same parameters, and a return type that fits. Not
   * together with {@link #whenBusy()}.
   */
  String fallback() default "";
}
