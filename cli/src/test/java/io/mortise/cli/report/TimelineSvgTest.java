package io.mortise.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class TimelineSvgTest {

  private static Element draw(Timeline timeline) throws Exception {
    Markup markup = new Markup();
    new TimelineSvg(timeline, "T").write(markup);
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(markup.toString())))
        .getDocumentElement();
  }

  private static List<Element> of(Element svg, String name, String style) {
    NodeList nodes = svg.getElementsByTagName(name);
    List<Element> found = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      Element element = (Element) nodes.item(i);
      if (List.of(element.getAttribute("class").split(" ")).contains(style)) {
        found.add(element);
      }
    }
    return found;
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }

  @Test
  void onlyWhatTouchesTheFrameIsDrawn() throws Exception {
    List<Element> holds = of(draw(Samples.timeline()), "rect", "hold");
    assertEquals(2, holds.size());
    assertTrue(holds.get(0).getTextContent().contains("fencing token 5"));
  }

  @Test
  void everythingLiesInsideThePicture() throws Exception {
    Element svg = draw(Samples.timeline());
    NodeList rects = svg.getElementsByTagName("rect");
    for (int i = 0; i < rects.getLength(); i++) {
      Element rect = (Element) rects.item(i);
      assertTrue(number(rect, "x") >= 0 && number(rect, "x") + number(rect, "width") <= 1000);
    }
  }

  @Test
  void aHoldInProportion() throws Exception {
    Element hold = of(draw(Samples.timeline()), "rect", "hold").get(1);
    double plot = 1000 - 84 - 14;
    assertEquals(84 + plot * 0.6, number(hold, "x"), 0.01);
    assertEquals(plot * 0.1, number(hold, "width"), 0.01);
  }

  @Test
  void labelsDoNotCoverEachOther() throws Exception {
    List<Element> labels = of(draw(Samples.timeline()), "text", "label");
    assertEquals(3, labels.size());
    Element told = labels.get(1);
    Element refused = labels.get(2);
    assertEquals("end", told.getAttribute("text-anchor"));
    assertTrue(number(told, "y") != number(refused, "y"));
  }

  @Test
  void manyThreadsShareTheRowOfTheirProcess() throws Exception {
    List<Hold> holds =
        IntStream.range(0, 64).mapToObj(i -> new Hold(i / 8, i % 8, 0, i, i, i + 1)).toList();
    Timeline timeline =
        new Timeline(new Frame(0, 64, 0, "the start"), holds, List.of(), List.of(), 8, 8, "Many.");
    long rows =
        of(draw(timeline), "rect", "hold").stream()
            .map(e -> e.getAttribute("y"))
            .distinct()
            .count();
    assertEquals(8, rows);
  }

  @Test
  void nothingThatHappenedIsAPictureToo() throws Exception {
    Timeline empty =
        new Timeline(
            new Frame(0, 0, 0, "the start"), List.of(), List.of(), List.of(), 2, 1, "Nothing.");
    assertEquals("svg", draw(empty).getTagName());
  }
}
