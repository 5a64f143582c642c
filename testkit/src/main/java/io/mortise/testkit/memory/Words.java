package io.mortise.testkit.memory;

/**
 * Reads and writes the numbers in the words of commands.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Words {
  private Words() {}

  /** Returns the integer that the word says. */
  static long integer(String word) {
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      throw RedisError.notAnInteger();
    }
  }

  /** Returns the score that the word says; infinite ones included. */
  static double score(String word) {
    return switch (word) {
      case "-inf" -> Double.NEGATIVE_INFINITY;
      case "+inf", "inf" -> Double.POSITIVE_INFINITY;
      default -> number(word);
    };
  }

  private static double number(String word) {
    try {
      return Double.parseDouble(word);
    } catch (NumberFormatException e) {
      throw new RedisError("ERR value is not a valid float");
    }
  }

  /**
   * Returns the number as Redis writes it: an integer without a point, others as short as can be.
   */
  static String ofNumber(double number) {
    if (number == Math.rint(number) && Math.abs(number) < 1e17) {
      return Long.toString((long) number);
    }
    return Double.isInfinite(number) ? (number > 0 ? "inf" : "-inf") : Double.toString(number);
  }

  /** Returns the index in a sequence: a negative one counts from the end. */
  static int index(String word, int size) {
    long index = integer(word);
    long fromStart = index < 0 ? size + index : index;
    return (int) Math.max(-1, Math.min(fromStart, Integer.MAX_VALUE - 1));
  }
}
