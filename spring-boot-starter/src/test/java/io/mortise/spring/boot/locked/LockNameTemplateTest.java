package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spring.boot.Locked;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.EvaluationException;

/** A name that would be the same for all arguments is refused before the first call. */
class LockNameTemplateTest {
  record Item(String id, String kind) {}

  static class Shop {
    public final String shelf = "upper";

    public String getCity() {
      return "Berlin";
    }

    public void sell(String id, Item item, List<Item> items, Map<String, String> kinds) {}

    public void open(String city, String shelf) {}
  }

  interface Remote {
    void sell(String id);
  }

  private static Method method(Class<?> type, String name) {
    for (Method each : type.getDeclaredMethods()) {
      if (each.getName().equals(name)) {
        return each;
      }
    }
    throw new AssertionError(name);
  }

  private static LockNameTemplate sell(String template) {
    return LockNameTemplate.parse(template, method(Shop.class, "sell"), Shop.class);
  }

  private static String nameOf(String template) {
    Item item = new Item("7", "shoe");
    return sell(template)
        .evaluate(new Shop(), new Object[] {"42", item, List.of(item), Map.of("id", "red")});
  }

  @ParameterizedTest
  @CsvSource({
    "order:#id, id",
    "o:{#id}, id",
    "#id, id",
    "'#{#item.id}:#id', id",
    "order:#a0, a0",
    "order:#p3, p3",
    "order:#item.id, item",
  })
  void aParameterOutsideOfAnExpressionIsRefused(String template, String name) {
    assertThatThrownBy(() -> sell(template))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "#%s in the name '%s' is outside of an expression".formatted(name, template))
        .hasMessageContaining("write #{#%s}".formatted(name));
  }

  @ParameterizedTest
  @ValueSource(strings = {"order #1", "#", "##", "#idea", "#a4", "a#b", "#root", "#{'#id'}"})
  void anotherHashIsText(String template) {
    assertThat(nameOf(template)).isEqualTo(template.replace("#{'#id'}", "#id"));
  }

  @ParameterizedTest
  @CsvSource({
    "order:#{id}, id",
    "order:#{id + #item.id}, id",
    "order:#{item.id}, item",
    "order:#{item?.id}, item",
    "order:#{#item.kind.concat(id)}, id",
    "order:#{a0}, a0",
  })
  void aParameterWithoutAHashIsRefused(String template, String name) {
    assertThatThrownBy(() -> sell(template))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'%s' in the name '%s' is a property".formatted(name, template))
        .hasMessageContaining("Shop does not have; write #%s for the parameter".formatted(name));
  }

  @ParameterizedTest
  @CsvSource({
    "#{#item.id}, 7",
    "#{#items.![id].get(0)}, 7",
    "'#{#items.?[id == ''7''].size()}', 1",
    "'#{#kinds[id]}', red",
    "'#{{id: ''a''}.size()}', 1",
    "#{city}, Berlin",
    "#{#root.city}, Berlin",
  })
  void aPropertyOfAnotherObjectMayHaveTheNameOfAParameter(String template, String name) {
    assertThat(nameOf(template)).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({"#{city}, Berlin", "#{shelf}, upper"})
  void aPropertyOfTheBeanMayHaveTheNameOfAParameter(String template, String name) {
    Method open = method(Shop.class, "open");

    assertThat(
            LockNameTemplate.parse(template, open, Shop.class)
                .evaluate(new Shop(), new Object[] {"Bonn", "lower"}))
        .isEqualTo(name);
  }

  /** The class of the bean is not known: it may have the property. */
  @Test
  void whatIsFoundOnlyAtTheCallNamesTheMethodAndTheTemplate() {
    Method sell = method(Remote.class, "sell");
    Remote bean = id -> {};
    LockNameTemplate name = LockNameTemplate.parse("order:#{id}", sell, Remote.class);

    assertThatThrownBy(() -> name.evaluate(bean, new Object[] {"42"}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "@Locked on Remote.sell(String): 'id' in the name 'order:#{id}' cannot be evaluated")
        .hasCauseInstanceOf(EvaluationException.class);
    assertThatThrownBy(() -> nameOf("order:#{#item.idd}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'#item.idd' in the name 'order:#{#item.idd}' cannot be evaluated")
        .hasMessageContaining("'idd' cannot be found");
  }

  static class Order {
    @Locked(name = "order:#id")
    public void change(String id) {}
  }

  @Test
  void theMethodIsNamed() {
    LockedMethods methods = new LockedMethods(text -> text);

    assertThatThrownBy(() -> methods.isIn(Order.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("@Locked on Order.change(String): #id in the name 'order:#id'");
  }
}
