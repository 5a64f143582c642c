package io.mortise.cli.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Metric;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * One JSON object:
 *
 * <pre>
 * {"mortise": version, "ok": all chapters hold, "quick": ..., "redis": ..., "html": the page,
 *  "millis": ..., "settings": {...},
 *  "chapters": [{"name": ..., "title": ..., "ok": ..., "explanation": ..., "millis": ...,
 *                "figures": {name: number, ...}}, ...]}
 * </pre>
 */
public final class JsonReport {
  private static final ObjectMapper JSON = new ObjectMapper();

  private JsonReport() {}

  /** The object as text, indented. */
  public static String of(DemoReport report, boolean quick, Path page) {
    ObjectNode root = JSON.createObjectNode();
    root.put("mortise", report.version());
    root.put("ok", report.ok());
    root.put("quick", quick);
    root.put("redis", report.redis());
    root.put("html", page.toString());
    root.put("millis", report.took().toMillis());
    DemoSettings settings = report.settings();
    root.putObject("settings")
        .put("processes", settings.processes())
        .put("threads", settings.threads())
        .put("stock", settings.stock())
        .put("customers", settings.customers())
        .put("leaseMillis", settings.lease().toMillis());
    ArrayNode chapters = root.putArray("chapters");
    report.chapters().forEach(chapter -> add(chapters.addObject(), chapter));
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void add(ObjectNode node, ChapterReport chapter) {
    node.put("name", chapter.name());
    node.put("title", chapter.title());
    node.put("ok", chapter.outcome().ok());
    node.put("explanation", chapter.outcome().explanation());
    node.put("millis", chapter.took().toMillis());
    ObjectNode figures = node.putObject("figures");
    for (Metric figure : chapter.outcome().figures()) {
      double value = figure.value().doubleValue();
      if (value == Math.rint(value)) {
        figures.put(figure.key(), figure.value().longValue());
      } else {
        figures.put(figure.key(), value);
      }
    }
  }
}
