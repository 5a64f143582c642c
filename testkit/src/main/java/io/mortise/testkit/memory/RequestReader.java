package io.mortise.testkit.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the requests in some bytes, in Redis' protocol. The last request may be incomplete.
 *
 * <p><b>Threads.</b> Confined to the thread that writes the bytes.
 */
final class RequestReader {
  /** In place of a number: the bytes end before the end of its line. */
  private static final int INCOMPLETE = -1;

  private final byte[] bytes;
  private int at;

  RequestReader(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Returns the next request; null when it is not complete. */
  @Nullable List<String> next() {
    int start = at;
    List<String> words = words();
    if (words == null) {
      at = start;
    }
    return words;
  }

  private @Nullable List<String> words() {
    int count = number('*');
    if (count == INCOMPLETE) {
      return null;
    }
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int length = number('$');
      if (length == INCOMPLETE || at + length + 2 > bytes.length) {
        return null;
      }
      words.add(new String(bytes, at, length, ISO_8859_1));
      at += length + 2;
    }
    return words;
  }

  /** Reads a mark, a number, and the end of the line. */
  private int number(char mark) {
    int line = at;
    while (true) {
      if (at + 1 >= bytes.length) {
        return INCOMPLETE;
      }
      if (bytes[at] == '\r' && bytes[at + 1] == '\n') {
        break;
      }
      at++;
    }
    if (bytes[line] != mark) {
      throw new IllegalStateException("a request begins with '%c'".formatted(bytes[line]));
    }
    int number = Integer.parseInt(new String(bytes, line + 1, at - line - 1, ISO_8859_1));
    at += 2;
    return number;
  }

  /** Returns the bytes behind the last complete request. */
  byte[] rest() {
    byte[] rest = new byte[bytes.length - at];
    System.arraycopy(bytes, at, rest, 0, rest.length);
    return rest;
  }
}
