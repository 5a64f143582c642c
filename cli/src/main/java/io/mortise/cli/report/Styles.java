package io.mortise.cli.report;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The style sheets of the page, and of a drawing that is a file of its own. */
final class Styles {
  private static final String PAGE = "report.css";
  private static final String TIMELINE = "timeline.css";
  private static final Pattern COLOUR = Pattern.compile("--(\\w+): (#\\w+);");
  private static final Pattern USE = Pattern.compile("var\\(--(\\w+)\\)");

  private Styles() {}

  /** The style of the page with all its drawings. */
  static String ofPage() {
    return read(PAGE) + read(TIMELINE);
  }

  /**
   * The style of a time line in a file of its own, in the light colours of the page. They are
   * literals: not every program that shows pictures knows variables.
   */
  static String ofTimeline() {
    Map<String, String> light = lightColours();
    return USE.matcher(read(TIMELINE)).replaceAll(use -> colour(light, use));
  }

  /** Returns a colour of the page by its name, such as {@code paper}. */
  static String lightColour(String name) {
    return colour(lightColours(), name);
  }

  private static String colour(Map<String, String> colours, MatchResult use) {
    return Matcher.quoteReplacement(colour(colours, use.group(1)));
  }

  private static String colour(Map<String, String> colours, String name) {
    String colour = colours.get(name);
    if (colour == null) {
      throw new IllegalStateException("%s has no colour '%s'".formatted(PAGE, name));
    }
    return colour;
  }

  /** The dark colours follow the light ones, and have the same names. */
  private static Map<String, String> lightColours() {
    Map<String, String> colours = new HashMap<>();
    COLOUR
        .matcher(read(PAGE))
        .results()
        .forEach(found -> colours.putIfAbsent(found.group(1), found.group(2)));
    return colours;
  }

  private static String read(String name) {
    try {
      return Resources.toString(Resources.getResource(Styles.class, name), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
