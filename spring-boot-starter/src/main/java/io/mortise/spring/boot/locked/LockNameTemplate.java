package io.mortise.spring.boot.locked;

import io.mortise.core.spi.LockName;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * The name of the lock of one method: a template that is parsed once, and evaluated with the
 * arguments of each call.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class LockNameTemplate {
  private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

  private final String template;
  private final Method method;
  private final List<Expression> parts;

  private LockNameTemplate(String template, Method method, List<Expression> parts) {
    this.template = template;
    this.method = method;
    this.parts = parts;
  }

  /**
   * Parses a template.
   *
   * @param type the class of the bean
   * @throws IllegalArgumentException if it is blank, no template, or has one of the mistakes that
   *     {@link LockNameCheck} finds; if it has no expression, also if it is no name of a lock
   */
  static LockNameTemplate parse(String template, Method method, Class<?> type) {
    if (template.isBlank()) {
      throw new IllegalArgumentException("the name is blank");
    }
    LockNameTemplate parsed = new LockNameTemplate(template, method, parts(template));
    parsed.parts.forEach(new LockNameCheck(template, method, type, NAMES)::check);
    if (parsed.isConstant()) {
      var unused = new LockName(template); // checks it
    }
    return parsed;
  }

  private static List<Expression> parts(String template) {
    try {
      Expression whole =
          new SpelExpressionParser().parseExpression(template, ParserContext.TEMPLATE_EXPRESSION);
      return whole instanceof CompositeStringExpression composite
          ? List.of(composite.getExpressions())
          : List.of(whole);
    } catch (ParseException e) {
      throw new IllegalArgumentException(
          "the name '%s' is no template of SpEL: %s".formatted(template, e.getMessage()), e);
    }
  }

  private boolean isConstant() {
    return parts.size() == 1 && !(parts.get(0) instanceof SpelExpression);
  }

  /**
   * Returns the name for these arguments.
   *
   * @throws IllegalArgumentException if a part of it is null, cannot be evaluated, or Spring
   *     converts it to no string
   */
  String evaluate(Object target, @Nullable Object[] arguments) {
    if (isConstant()) {
      return template;
    }
    EvaluationContext context = new MethodBasedEvaluationContext(target, method, arguments, NAMES);
    StringBuilder name = new StringBuilder();
    for (Expression part : parts) {
      String value = text(part, context);
      if (value == null) {
        throw new IllegalArgumentException(explain(part) + " is null; a lock needs a name");
      }
      name.append(value);
    }
    return name.toString();
  }

  /** Not {@code toString()} of any object: that may be another one in each process. */
  private @Nullable String text(Expression part, EvaluationContext context) {
    Object value = value(part, context);
    try {
      return (String)
          context
              .getTypeConverter()
              .convertValue(
                  value, TypeDescriptor.forObject(value), TypeDescriptor.valueOf(String.class));
    } catch (EvaluationException e) {
      throw new IllegalArgumentException(
          explain(part) + " is no text; name a part of it, or a method that returns a text", e);
    }
  }

  private @Nullable Object value(Expression part, EvaluationContext context) {
    try {
      return part.getValue(context);
    } catch (EvaluationException e) {
      throw new IllegalArgumentException(
          "%s cannot be evaluated: %s".formatted(explain(part), e.getMessage()), e);
    }
  }

  private String explain(Expression part) {
    return "@Locked on %s: '%s' in the name '%s'"
        .formatted(describe(method), part.getExpressionString(), template);
  }

  /** Returns the method as messages name it: {@code Shop.sell(String)}. */
  static String describe(Method method) {
    return Arrays.stream(method.getParameterTypes())
        .map(Class::getSimpleName)
        .collect(
            Collectors.joining(
                ", ",
                method.getDeclaringClass().getSimpleName() + "." + method.getName() + "(",
                ")"));
  }
}
