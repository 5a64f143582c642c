package io.mortise.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class JsonReportTest {

  private static JsonNode json(boolean secondHolds) throws Exception {
    String text = JsonReport.of(Samples.report(secondHolds), true, Path.of("/tmp/page.html"));
    return new ObjectMapper().readTree(text);
  }

  @Test
  void chaptersHaveNameVerdictAndFigures() throws Exception {
    JsonNode chapters = json(false).get("chapters");
    assertEquals(2, chapters.size());
    assertEquals("first", chapters.get(0).get("name").textValue());
    assertTrue(chapters.get(0).get("ok").booleanValue());
    assertEquals(20, chapters.get(0).get("figures").get("sold").intValue());
    assertEquals(7, chapters.get(0).get("figures").get("inner").intValue());
    assertFalse(chapters.get(1).get("ok").booleanValue());
    assertEquals(1.2, json(false).at("/chapters/1/figures/gapMillis").doubleValue());
  }

  @Test
  void theWholeIsOkIfEachChapterIs() throws Exception {
    assertTrue(json(true).get("ok").booleanValue());
    assertFalse(json(false).get("ok").booleanValue());
  }

  @Test
  void theSettingsAreThere() throws Exception {
    assertEquals(2000, json(true).at("/settings/leaseMillis").intValue());
    assertEquals("/tmp/page.html", json(true).get("html").textValue());
  }
}
