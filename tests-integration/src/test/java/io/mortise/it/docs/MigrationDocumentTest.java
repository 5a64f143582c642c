package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/**
 * The tables of docs/migrating-from-redisson.md have the methods of Redisson's classes, each by
 * name and number of parameters, and no other.
 */
class MigrationDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "migrating-from-redisson.md");
  private static final Pattern METHOD = Pattern.compile("`(\\w+)\\(([^)`]*)\\)`");

  @Test
  @SuppressWarnings("deprecation") // Redisson has deprecated its RedLock; its users migrate too
  void theTablesHaveTheMethodsOfRedisson() throws Exception {
    assertEquals(methods(RLock.class), documented("RLock"));
    assertEquals(
        minus(methods(RFencedLock.class), methods(RLock.class)), documented("RFencedLock"));
    assertEquals(methods(RReadWriteLock.class), documented("RReadWriteLock"));
    assertEquals(methods(RedissonMultiLock.class), documented("RedissonMultiLock"));
    assertEquals(methods(RedissonMultiLock.class), methods(RedissonRedLock.class));
  }

  private static Set<String> minus(Set<String> all, Set<String> some) {
    Set<String> rest = new TreeSet<>(all);
    rest.removeAll(some);
    return rest;
  }

  /** Returns the public methods that a user can call on an object, as {@code name/parameters}. */
  private static Set<String> methods(Class<?> type) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.getDeclaringClass() != Object.class)
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .map(MigrationDocumentTest::signature)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String signature(Method method) {
    return method.getName() + "/" + method.getParameterCount();
  }

  /** Returns the methods in the first column of the tables of that section. */
  private static Set<String> documented(String section) throws Exception {
    List<String> lines = Files.readAllLines(DOCUMENT);
    return lines.stream()
        .dropWhile(line -> !line.equals("### " + section))
        .skip(1)
        .takeWhile(line -> !line.startsWith("#"))
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.substring(0, line.indexOf(" | ")))
        .flatMap(MigrationDocumentTest::signatures)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<String> signatures(String cell) {
    return METHOD.matcher(cell).results().map(MigrationDocumentTest::signature);
  }

  private static String signature(MatchResult found) {
    String parameters = found.group(2);
    int count = parameters.isEmpty() ? 0 : parameters.split(",", -1).length;
    return found.group(1) + "/" + count;
  }
}
