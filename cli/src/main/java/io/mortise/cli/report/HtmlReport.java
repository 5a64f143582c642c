package io.mortise.cli.report;

import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Metric;
import io.mortise.cli.timeline.Drawing;
import io.mortise.cli.timeline.LineUps;
import io.mortise.cli.timeline.Timeline;
import java.util.List;

/** The page: one file without scripts, light or dark by the setting of the reader. */
public final class HtmlReport {
  private final Markup page = new Markup();
  private final DemoReport report;

  private HtmlReport(DemoReport report) {
    this.report = report;
  }

  /** Returns the page as text. */
  public static String of(DemoReport report) {
    return new HtmlReport(report).write();
  }

  private String write() {
    page.doctype().open("html", "lang", "en");
    page.open("head")
        .empty("meta", "charset", "utf-8")
        .empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
        .leaf("title", "Mortise: the flash sale")
        .leaf("style", Styles.ofPage())
        .close();
    page.open("body").open("main");
    header();
    summary();
    legend();
    report.chapters().forEach(this::chapter);
    page.close().close().close();
    return page.toString();
  }

  private void header() {
    DemoSettings settings = report.settings();
    page.open("header")
        .leaf("h1", "Mortise: the flash sale")
        .leaf(
            "p",
            "%d processes of %d threads sell %d articles to %d customers. The stock is a number in Redis: a thread reads it, computes, and writes it back."
                .formatted(
                    settings.processes(),
                    settings.threads(),
                    settings.stock(),
                    settings.customers()))
        .leaf(
            "p",
            "Mortise %s, %s. The lease of the lock is %s; the demo took %.1f s."
                .formatted(
                    report.version(),
                    report.redis(),
                    Metric.millisText(settings.lease().toNanos()),
                    report.took().toMillis() / 1e3),
            "class",
            "quiet")
        .close();
  }

  private void summary() {
    page.open("table", "class", "summary").open("tbody");
    for (ChapterReport chapter : report.chapters()) {
      page.open("tr");
      page.open("th", "scope", "row")
          .leaf("a", chapter.title(), "href", "#" + chapter.name())
          .close();
      page.open("td");
      verdict(chapter);
      page.close().leaf("td", chapter.outcome().explanation()).close();
    }
    page.close().close();
  }

  private void verdict(ChapterReport chapter) {
    boolean ok = chapter.outcome().ok();
    page.leaf("span", ok ? "✓ ok" : "✗ failed", "class", ok ? "verdict ok" : "verdict failed");
  }

  private void legend() {
    page.open("ul", "class", "legend");
    swatch("hold w0", "inside; a colour for each process");
    swatch("wait w0", "waiting");
    swatch("span", "killed or paused inside");
    swatch("crowd", "inside together, which must not be");
    swatch("writer", "writing, alone");
    swatch("together", "inside together, as the lock allows");
    swatch("outage", "a server is dead");
    page.close();
  }

  private void swatch(String style, String meaning) {
    page.open("li")
        .open("svg", "class", "swatch", "viewBox", "0 0 24 12", "aria-hidden", "true")
        .open("rect", "class", style, "x", "0", "y", style.startsWith("wait") ? "5" : "1")
        .close()
        .close()
        .text(meaning)
        .close();
  }

  private void chapter(ChapterReport chapter) {
    page.open("section", "id", chapter.name());
    page.open("h2").text(chapter.title() + " ");
    verdict(chapter);
    page.close();
    page.leaf("p", chapter.story());
    page.leaf("p", chapter.outcome().explanation(), "class", "seen");
    figures(chapter.outcome().figures());
    for (Drawing drawing : chapter.outcome().drawings()) {
      page.open("figure");
      page.open("div", "class", "scroll");
      draw(drawing, chapter.title());
      page.close();
      page.leaf("figcaption", drawing.caption());
      page.close();
    }
    log(chapter.log());
    page.close();
  }

  private void draw(Drawing drawing, String title) {
    if (drawing instanceof Timeline timeline) {
      new TimelineSvg(timeline, title).write(page);
    } else {
      new LineUpsSvg((LineUps) drawing).write(page);
    }
  }

  private void figures(List<Metric> figures) {
    comparison(figures.stream().filter(figure -> !figure.of().isEmpty()).toList());
    page.open("dl");
    for (Metric figure : figures) {
      if (figure.of().isEmpty()) {
        page.open("div").leaf("dt", figure.label()).leaf("dd", figure.text()).close();
      }
    }
    page.close();
  }

  /** A table with a column for each of the things that are compared. */
  private void comparison(List<Metric> figures) {
    if (figures.isEmpty()) {
      return;
    }
    List<String> compared = figures.stream().map(Metric::of).distinct().toList();
    page.open("table", "class", "comparison").open("thead").open("tr").leaf("td", "");
    compared.forEach(of -> page.leaf("th", of, "scope", "col"));
    page.close().close().open("tbody");
    for (String label : figures.stream().map(Metric::label).distinct().toList()) {
      page.open("tr").leaf("th", label, "scope", "row");
      for (String of : compared) {
        page.leaf(
            "td",
            figures.stream()
                .filter(figure -> figure.label().equals(label) && figure.of().equals(of))
                .map(Metric::text)
                .findFirst()
                .orElse(""));
      }
      page.close();
    }
    page.close().close();
  }

  private void log(List<String> lines) {
    if (!lines.isEmpty()) {
      page.open("details")
          .leaf("summary", "What Mortise logged in the workers (lines: %d)".formatted(lines.size()))
          .leaf("pre", String.join("\n", lines))
          .close();
    }
  }
}
