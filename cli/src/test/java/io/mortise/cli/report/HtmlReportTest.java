package io.mortise.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
  private static String html;
  private static Document page;

  @BeforeAll
  static void parse() throws Exception {
    html = HtmlReport.of(Samples.report(false));
    page =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(html)));
  }

  private static List<Element> elements(String name) {
    NodeList nodes = page.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }

  @Test
  void textCannotBecomeMarkup() {
    assertEquals(List.of(), elements("script"));
    assertFalse(html.contains("<script"));
    assertTrue(
        elements("p").stream()
            .anyMatch(p -> p.getTextContent().equals("Explained " + Samples.EVIL)));
  }

  @Test
  void nothingIsLoadedFromElsewhere() {
    assertFalse(html.contains("http"));
    assertFalse(html.contains("src="));
    assertFalse(html.contains("@import"));
    assertFalse(html.contains("url("));
  }

  @Test
  void emptyElementsAreThoseThatHtmlKnows() {
    List<String> selfClosed =
        html.lines()
            .flatMap(
                line -> java.util.regex.Pattern.compile("<(\\w+)[^<>]*/>").matcher(line).results())
            .map(result -> result.group(1))
            .distinct()
            .toList();
    assertEquals(List.of("meta"), selfClosed);
    assertTrue(html.startsWith("<!DOCTYPE html>"));
  }

  @Test
  void eachChapterHasItsVerdictItsFiguresAndItsPictures() {
    List<Element> sections = elements("section");
    assertEquals(2, sections.size());
    assertTrue(sections.get(0).getTextContent().contains("✓ ok"));
    assertTrue(sections.get(1).getTextContent().contains("✗ failed"));
    assertEquals("1.2 ms", sections.get(1).getElementsByTagName("dd").item(0).getTextContent());
    for (Element section : sections) {
      assertEquals(2, section.getElementsByTagName("svg").getLength());
    }
  }

  @Test
  void theStyleKnowsTheDark() {
    assertTrue(html.contains("prefers-color-scheme: dark"));
  }
}
