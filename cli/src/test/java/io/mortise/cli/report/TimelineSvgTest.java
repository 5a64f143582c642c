package io.mortise.cli.report;

import static io.mortise.cli.report.Drawn.elements;
import static io.mortise.cli.report.Drawn.number;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.EventType;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class TimelineSvgTest {

  private static Element draw(Timeline timeline) throws Exception {
    Markup markup = new Markup();
    new TimelineSvg(timeline, "T").write(markup);
    return Drawn.parse(markup);
  }

  @Test
  void onlyWhatTouchesTheFrameIsDrawn() throws Exception {
    List<Element> holds = elements(draw(Samples.timeline()), "rect", "hold");
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
    Element hold = elements(draw(Samples.timeline()), "rect", "hold").get(1);
    double plot = 1000 - 84 - 14;
    assertEquals(84 + plot * 0.6, number(hold, "x"), 0.01);
    assertEquals(plot * 0.1, number(hold, "width"), 0.01);
  }

  @Test
  void labelsDoNotCoverEachOther() throws Exception {
    List<Element> labels = elements(draw(Samples.timeline()), "text", "label");
    assertEquals(3, labels.size());
    Element notified = labels.get(1);
    Element refused = labels.get(2);
    assertEquals("end", notified.getAttribute("text-anchor"));
    assertTrue(number(notified, "y") != number(refused, "y"));
  }

  /** Three marks at the right edge: their labels go to the left, over the lines of one another. */
  @Test
  void noLineOfAMarkCrossesALabel() throws Exception {
    long milli = Samples.MILLI;
    List<Mark> marks =
        List.of(
            new Mark(0, 0, EventType.PAUSED, 2 * milli, "paused"),
            new Mark(0, 0, EventType.WOKEN, 95 * milli, "woken"),
            new Mark(0, 0, EventType.REFUSED, 96 * milli, "refused"),
            new Mark(0, 0, EventType.NOTIFIED, 97 * milli, "notified"));
    Element svg =
        draw(
            new Timeline(
                new Frame(0, 100 * milli, 0, "the start"),
                List.of(),
                marks,
                List.of(),
                1,
                1,
                "Late."));
    List<Element> labels = elements(svg, "text", "label");
    assertEquals(4, labels.size());
    NodeList lines = svg.getElementsByTagName("line");
    for (Element label : labels) {
      boolean left = label.getAttribute("text-anchor").equals("end");
      double width = MarkLabel.width(label.getTextContent());
      double from = left ? number(label, "x") - width : number(label, "x");
      for (int i = 0; i < lines.getLength(); i++) {
        Element line = (Element) lines.item(i);
        double x = number(line, "x1");
        boolean across = x > from && x < from + width;
        boolean beside = number(line, "y1") < number(label, "y") - 9;
        assertTrue(!across || !beside, () -> "a line at " + x + ": " + label.getTextContent());
      }
    }
  }

  @Test
  void manyThreadsShareTheRowOfTheirProcess() throws Exception {
    List<Hold> holds =
        IntStream.range(0, 64).mapToObj(i -> new Hold(i / 8, i % 8, 0, i, i, i + 1)).toList();
    Timeline timeline =
        new Timeline(new Frame(0, 64, 0, "the start"), holds, List.of(), List.of(), 8, 8, "Many.");
    long rows =
        elements(draw(timeline), "rect", "hold").stream()
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

  @Test
  void aWriterLooksUnlikeReadersAndReadersTogetherAreNoClash() throws Exception {
    Element svg = draw(Samples.readersAndWriter());
    assertEquals(2, elements(svg, "rect", "shared").size());
    assertEquals(1, elements(svg, "rect", "writer").size());
    assertEquals(1, elements(svg, "rect", "together").size());
    assertEquals(0, elements(svg, "rect", "crowd").size());
    assertEquals(3, elements(svg, "rect", "alone").size());
  }

  @Test
  void lanesAreBelowTheThreadsAndHaveTheirHoldsAndOutages() throws Exception {
    Element svg = draw(Samples.timeline().with(Samples.lanes()));
    List<Element> kept = elements(svg, "rect", "kept");
    List<Element> outages = elements(svg, "rect", "outage");
    assertEquals(1, kept.size(), "the other one is not in the frame");
    assertEquals(1, outages.size());
    double plot = 1000 - 84 - 14;
    assertEquals(plot * 0.3, number(outages.get(0), "width"), 0.01);
    assertTrue(number(outages.get(0), "y") > number(kept.get(0), "y"));
    for (Element hold : elements(svg, "rect", "hold")) {
      assertTrue(number(kept.get(0), "y") > number(hold, "y"));
    }
    assertEquals(1, elements(svg, "line", "edge").size(), "it came back after the frame");
  }

  @Test
  void whereNobodyReadsNobodyIsDrawnAsAWriter() throws Exception {
    Element svg = draw(Samples.timeline());
    assertEquals(0, elements(svg, "rect", "writer").size());
  }
}
