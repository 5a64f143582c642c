package io.mortise.cli.report;

import java.io.StringWriter;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Writes a page that is both HTML and well-formed XML. The JDK escapes text and closes elements, so
 * no text can break the page.
 */
final class Markup {
  private final StringWriter text = new StringWriter();
  private final XMLStreamWriter xml;

  private interface Writing {
    void run() throws XMLStreamException;
  }

  Markup() {
    try {
      xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
  }

  /** {@code <!DOCTYPE html>}. */
  Markup doctype() {
    return write(() -> xml.writeDTD("<!DOCTYPE html>\n"));
  }

  /**
   * Begins an element.
   *
   * @param attributes name, value, name, value
   */
  Markup open(String element, String... attributes) {
    return write(
        () -> {
          xml.writeStartElement(element);
          writeAttributes(attributes);
        });
  }

  /** Ends the element that was begun last. */
  Markup close() {
    return write(xml::writeEndElement);
  }

  /** Text inside the element that was begun last. */
  Markup text(String characters) {
    return write(() -> xml.writeCharacters(characters));
  }

  /** An element with nothing but text inside. */
  Markup leaf(String element, String characters, String... attributes) {
    return open(element, attributes).text(characters).close();
  }

  /** An element that HTML knows to have no inside, such as {@code meta}. */
  Markup empty(String element, String... attributes) {
    return write(
        () -> {
          xml.writeEmptyElement(element);
          writeAttributes(attributes);
        });
  }

  @Override
  public String toString() {
    write(xml::flush);
    return text.toString();
  }

  private void writeAttributes(String... attributes) throws XMLStreamException {
    for (int i = 0; i < attributes.length; i += 2) {
      xml.writeAttribute(attributes[i], attributes[i + 1]);
    }
  }

  private Markup write(Writing writing) {
    try {
      writing.run();
      return this;
    } catch (XMLStreamException e) {
      throw new IllegalStateException("the page is not well-formed", e);
    }
  }
}
