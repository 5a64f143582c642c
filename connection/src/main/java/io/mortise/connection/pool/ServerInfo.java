package io.mortise.connection.pool;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.primitives.Longs;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An answer to INFO or CLUSTER INFO: lines of {@code field:value}.
 *
 * @param text the answer; empty when it was no text
 */
public record ServerInfo(String text) {

  /** Reads an answer as Jedis decodes it. */
  public static ServerInfo of(Object answer) {
    return new ServerInfo(answer instanceof byte[] bytes ? new String(bytes, UTF_8) : "");
  }

  /** Returns the value of a field; empty when the answer lacks it. */
  public Optional<String> field(String name) {
    Matcher line = Pattern.compile("(?m)^" + name + ":(\\S+)").matcher(text);
    return line.find() ? Optional.of(line.group(1)) : Optional.empty();
  }

  /** Returns the number at the start of a field; empty when the answer has none, or too large. */
  public OptionalLong number(String name) {
    Matcher line = Pattern.compile("(?m)^" + name + ":(\\d+)").matcher(text);
    Long number = line.find() ? Longs.tryParse(line.group(1)) : null;
    return number == null ? OptionalLong.empty() : OptionalLong.of(number);
  }

  /** Returns the random id of the server, which it gives itself at each start. */
  public Optional<String> runId() {
    return field("run_id");
  }
}
