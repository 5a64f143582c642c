package io.mortise.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class TimelinePictureTest {
  private static String picture;
  private static Element svg;

  @BeforeAll
  static void draw() throws Exception {
    picture = TimelinePicture.of(Samples.timeline().with(Samples.lanes()), Samples.EVIL);
    svg =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(picture.getBytes(UTF_8)))
            .getDocumentElement();
  }

  @Test
  void itNeedsNothingElse() {
    assertEquals(0, svg.getElementsByTagName("script").getLength());
    String rest = picture.replace("http://www.w3.org/2000/svg", "");
    for (String foreign : List.of("http", "href", "url(", "@import", "var(", "--")) {
      assertFalse(rest.contains(foreign), foreign);
    }
  }

  /** Of several classes one counts; a dot has the style of its mark. */
  @Test
  void everyClassHasItsStyle() {
    String style = svg.getElementsByTagName("style").item(0).getTextContent();
    NodeList all = svg.getElementsByTagName("*");
    Set<String> plain = new TreeSet<>();
    for (int i = 0; i < all.getLength(); i++) {
      String classes = ((Element) all.item(i)).getAttribute("class");
      if (!classes.isEmpty()
          && List.of(classes.split(" ")).stream()
              .noneMatch(each -> Pattern.compile("\\." + each + "\\b").matcher(style).find())) {
        plain.add(classes);
      }
    }
    assertEquals(Set.of("dot"), plain);
  }

  @Test
  void itsBackgroundCoversAllOfIt() {
    Element background = (Element) svg.getElementsByTagName("rect").item(0);
    assertEquals("fill:#ffffff", background.getAttribute("style"));
    assertEquals(
        svg.getAttribute("viewBox"),
        String.join(
            " ",
            background.getAttribute("x"),
            background.getAttribute("y"),
            background.getAttribute("width"),
            background.getAttribute("height")));
  }

  @Test
  void itHasTheShapesOfThePage() throws Exception {
    Markup page = new Markup();
    new TimelineSvg(Samples.timeline().with(Samples.lanes()), Samples.EVIL).write(page);
    Element onPage = Drawn.parse(page);
    for (String shape : List.of("text", "circle", "line")) {
      assertEquals(
          onPage.getElementsByTagName(shape).getLength(),
          svg.getElementsByTagName(shape).getLength(),
          shape);
    }
    assertTrue(svg.getElementsByTagName("text").getLength() > 0);
  }
}
