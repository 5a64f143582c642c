package io.mortise.cli.report;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Looks into a drawing. */
final class Drawn {
  private Drawn() {}

  static Element parse(Markup markup) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(markup.toString())))
        .getDocumentElement();
  }

  /** The elements of that name that are of that class, among others. */
  static List<Element> elements(Element svg, String name, String style) {
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

  static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }
}
