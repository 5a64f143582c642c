package io.mortise.spring.boot.locked;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;

/**
 * Finds the mistakes in the template of a name that need no call: a variable that the method does
 * not have, and a parameter that is written without {@code #} or outside of an expression. The
 * latter is a constant text, so that all calls would share one lock.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class LockNameCheck {
  private static final Pattern REFERENCE =
      Pattern.compile("#([\\w$]+)", Pattern.UNICODE_CHARACTER_CLASS);

  private final String template;
  private final Class<?> type;
  private final @Nullable String @Nullable [] names;
  private final Set<String> parameters = new LinkedHashSet<>();

  /**
   * Creates the check of one template.
   *
   * @param type the class of the bean, whose properties an expression may read
   */
  LockNameCheck(String template, Method method, Class<?> type, ParameterNameDiscoverer discoverer) {
    this.template = template;
    this.type = type;
    this.names = discoverer.getParameterNames(method);
    IntStream.range(0, method.getParameterCount())
        .forEach(index -> parameters.addAll(List.of("a" + index, "p" + index)));
    if (names != null) {
      parameters.addAll(Arrays.asList(names));
    }
  }

  /**
   * Checks one part of the template.
   *
   * @throws IllegalArgumentException if it has such a mistake; the message has the remedy
   */
  void check(Expression part) {
    if (part instanceof SpelExpression expression) {
      checkVariables(expression.getAST());
      checkProperties(expression.getAST());
    } else {
      checkText(part.getExpressionString());
    }
  }

  private void checkText(String text) {
    Matcher reference = REFERENCE.matcher(text);
    while (reference.find()) {
      String name = reference.group(1);
      if (parameters.contains(name) || mayBeParameter(name)) {
        throw new IllegalArgumentException(
            "#%s in the name '%s' is outside of an expression, the same text for all arguments;"
                    .formatted(name, template)
                + " write #{#%s}, or #{'#%s'} for that text".formatted(name, name));
      }
    }
  }

  /** Without the names of the parameters every name may be one. */
  private boolean mayBeParameter(String name) {
    return names == null
        && !parameters.isEmpty()
        && Character.isJavaIdentifierStart(name.charAt(0));
  }

  private void checkVariables(SpelNode node) {
    if (node instanceof VariableReference) {
      String name = node.toStringAST().substring(1);
      if (!parameters.contains(name) && !name.equals("root") && !name.equals("this")) {
        throw new IllegalArgumentException(
            "the name '%s' refers to #%s, and %s".formatted(template, name, explainParameters()));
      }
    }
    for (int child = 0; child < node.getChildCount(); child++) {
      checkVariables(node.getChild(child));
    }
  }

  private String explainParameters() {
    return names == null
        ? "the names of the parameters are not in the class file;"
            + " compile with -parameters, or write #a0 for the first parameter"
        : "the parameters are " + Arrays.toString(names);
  }

  /** Checks the properties of the bean that a node reads, and not those of other objects. */
  private void checkProperties(SpelNode node) {
    if (node instanceof PropertyOrFieldReference property) {
      checkProperty(property.getName());
    } else if (node instanceof CompoundExpression) {
      checkProperties(node.getChild(0)); // the others belong to what is before them
      for (int child = 1; child < node.getChildCount(); child++) {
        if (node.getChild(child) instanceof MethodReference call) {
          checkProperties(call);
        }
      }
    } else if (!isOfAnother(node)) {
      for (int child = 0; child < node.getChildCount(); child++) {
        checkProperties(node.getChild(child));
      }
    }
  }

  /** Returns whether the words in it may be keys, or properties of elements. */
  private static boolean isOfAnother(SpelNode node) {
    return node instanceof InlineMap
        || node instanceof Indexer
        || node instanceof Projection
        || node instanceof Selection;
  }

  private void checkProperty(String name) {
    if (parameters.contains(name)
        && !type.isInterface()
        && !new ReadableProperties().contain(type, name)) {
      throw new IllegalArgumentException(
          "'%s' in the name '%s' is a property that %s does not have; write #%s for the parameter"
              .formatted(name, template, type.getSimpleName(), name));
    }
  }

  /** What SpEL finds by reflection, as a class says it before there is an object. */
  private static final class ReadableProperties extends ReflectivePropertyAccessor {
    /** Of one check alone: it remembers the class, which would outlive the application. */
    boolean contain(Class<?> type, String name) {
      return findGetterForProperty(name, type, false) != null
          || findField(name, type, false) != null;
    }
  }
}
