package io.mortise.testkit.memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The replies of commands, and their form on the wire (RESP2).
 *
 * <p>A reply is a {@code Long}, a {@code String} (bulk), a {@link Status}, a {@link RedisError}, a
 * {@code List} of replies, or null.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Replies {
  static final Status OK = new Status("OK");

  /** A simple string. */
  record Status(String text) {}

  private Replies() {}

  static byte[] encode(@Nullable Object reply) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    write(out, reply);
    return out.toByteArray();
  }

  private static void write(ByteArrayOutputStream out, @Nullable Object reply) {
    if (reply == null) {
      line(out, "$-1");
    } else if (reply instanceof Long number) {
      line(out, ":" + number);
    } else if (reply instanceof Status status) {
      line(out, "+" + status.text());
    } else if (reply instanceof RedisError error) {
      line(out, "-" + error.reply().replace('\r', ' ').replace('\n', ' '));
    } else if (reply instanceof List<?> items) {
      line(out, "*" + items.size());
      items.forEach(item -> write(out, item));
    } else {
      String bytes = (String) reply;
      line(out, "$" + bytes.length());
      line(out, bytes);
    }
  }

  private static void line(ByteArrayOutputStream out, String text) {
    out.writeBytes(text.getBytes(ISO_8859_1));
    out.write('\r');
    out.write('\n');
  }
}
