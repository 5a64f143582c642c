package io.mortise.testkit.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reader of the requests in some bytes, in Redis' protocol. The last request may be incomplete.
 *
 * <p><b>Threads.</b> Confined to the thread that writes the bytes.
 */
final class RequestReader {
  private final byte[] bytes;
  private int at;

  RequestReader(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Returns the next request; null when it is not complete. */
  @Nullable List<String> next() {
    int start = at;
    try {
      List<String> words = new ArrayList<>();
      int count = number('*');
      for (int i = 0; i < count; i++) {
        int length = number('$');
        if (at + length + 2 > bytes.length) {
          throw new EOFException();
        }
        words.add(new String(bytes, at, length, ISO_8859_1));
        at += length + 2;
      }
      return words;
    } catch (EOFException incomplete) {
      at = start;
      return null;
    }
  }

  private int number(char mark) throws EOFException {
    int line = at;
    while (true) {
      if (at + 1 >= bytes.length) {
        throw new EOFException();
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
