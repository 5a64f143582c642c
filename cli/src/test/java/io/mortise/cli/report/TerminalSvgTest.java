package io.mortise.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class TerminalSvgTest {
  @Test
  void eachPieceIsAtItsColumnInItsColour() throws Exception {
    String svg =
        TerminalSvg.of(
            "a <title>",
            "mortise inspect",
            List.of("\u001b[1mname\u001b[0m  lock, held", "  \u001b[32mholds\u001b[0m\u001b[K"));

    NodeList texts =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(UTF_8)))
            .getElementsByTagName("text");
    List<Element> pieces =
        IntStream.range(0, texts.getLength()).mapToObj(i -> (Element) texts.item(i)).toList();
    assertEquals(
        List.of("$", "mortise inspect", "name", "lock, held", "holds"),
        pieces.stream().map(Element::getTextContent).toList());
    assertEquals("29.60", pieces.get(4).getAttribute("x"), "two columns from the margin");
    assertEquals("63.00", pieces.get(4).getAttribute("y"), "the third row");
    assertEquals("fill:#7ee787", pieces.get(4).getAttribute("style"));
    assertEquals("", pieces.get(3).getAttribute("style"));
    assertFalse(svg.contains("\u001b"));
  }
}
