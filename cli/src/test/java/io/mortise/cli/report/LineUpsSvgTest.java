package io.mortise.cli.report;

import static io.mortise.cli.report.Drawn.elements;
import static io.mortise.cli.report.Drawn.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.LineUp;
import io.mortise.cli.timeline.LineUps;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class LineUpsSvgTest {

  private static Element draw(LineUps lineUps) throws Exception {
    Markup markup = new Markup();
    new LineUpsSvg(lineUps).write(markup);
    return Drawn.parse(markup);
  }

  @Test
  void linesOfAnOrderThatWasKeptAreLevel() throws Exception {
    List<Element> links = elements(draw(Samples.lineUps()), "line", "link").subList(0, 3);
    for (Element link : links) {
      assertEquals(number(link, "y1"), number(link, "y2"));
    }
  }

  @Test
  void whoWasOvertakenIsShown() throws Exception {
    Element svg = draw(Samples.lineUps());
    List<Element> late = elements(svg, "line", "late");
    assertEquals(2, late.size());
    for (Element link : late) {
      assertTrue(number(link, "y1") < number(link, "y2"), "it goes down");
    }
    assertEquals(
        "worker 1, thread 1: asked as number 1, came in as number 2", late.get(0).getTextContent());
    List<Element> headings = elements(svg, "text", "heading");
    assertEquals("fair: none of 3 overtaken", headings.get(0).getTextContent());
    assertEquals(Samples.EVIL + ": 2 of 3 overtaken", headings.get(1).getTextContent());
  }

  @Test
  void theSidesDoNotCoverEachOther() throws Exception {
    List<Element> links = elements(draw(Samples.lineUps()), "line", "link");
    assertEquals(6, links.size());
    assertTrue(number(links.get(0), "x2") + 60 < number(links.get(3), "x1"));
    assertTrue(number(links.get(5), "x2") < 1000);
  }

  @Test
  void nobodyInLineIsAPictureToo() throws Exception {
    LineUps empty = new LineUps(List.of(new LineUp("none", List.of())), "Nobody.");
    assertEquals("svg", draw(empty).getTagName());
  }
}
