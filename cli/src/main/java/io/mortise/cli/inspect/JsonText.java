package io.mortise.cli.inspect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;

/**
 * JSON in ASCII: what is in Redis must not steer the terminal, and the locale cannot lose it.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
public final class JsonText {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private JsonText() {}

  /** Returns one line. */
  public static String line(JsonNode node) {
    return text(MAPPER.writer(), node);
  }

  /** Returns indented lines. */
  public static String pretty(JsonNode node) {
    return text(MAPPER.writerWithDefaultPrettyPrinter(), node);
  }

  private static String text(ObjectWriter writer, JsonNode node) {
    try {
      return writer.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e); // a tree can always be written
    }
  }
}
