package io.mortise.it.artefacts;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** A project file of Maven, as it is written. */
final class Pom {
  private final Document document;

  private Pom(Document document) {
    this.document = document;
  }

  static Pom of(Path file) {
    try {
      return new Pom(
          DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(file.toFile()));
    } catch (Exception e) {
      throw new IllegalArgumentException(file + " cannot be read", e);
    }
  }

  /** Returns the text of each element that an XPath expression finds, in their order. */
  List<String> texts(String path) {
    try {
      NodeList found =
          (NodeList)
              XPathFactory.newDefaultInstance()
                  .newXPath()
                  .evaluate(path, document, XPathConstants.NODESET);
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < found.getLength(); i++) {
        texts.add(found.item(i).getTextContent().strip());
      }
      return texts;
    } catch (XPathExpressionException e) {
      throw new IllegalArgumentException(path, e);
    }
  }
}
