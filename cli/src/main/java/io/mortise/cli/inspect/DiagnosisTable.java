package io.mortise.cli.inspect;

import io.mortise.cli.options.OptionNames;
import io.mortise.cli.text.Cell;
import io.mortise.cli.text.Style;
import io.mortise.cli.text.TextTable;
import io.mortise.core.ServerHealth;
import io.mortise.core.ServerHealth.Check;
import io.mortise.core.ServerHealth.Finding;
import io.mortise.core.ServerHealth.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A diagnosis as a table: a line for each check, and below a problem what to do about it. */
public final class DiagnosisTable {
  private static final int WIDTH = 110;
  private static final int VERDICT_WIDTH = 7;
  private static final int CHECK_WIDTH = 11;

  private final TextTable table = new TextTable();

  private DiagnosisTable() {}

  /** Returns the lines. */
  public static List<String> of(Diagnosis diagnosis, boolean colours) {
    DiagnosisTable text = new DiagnosisTable();
    diagnosis.deployments().forEach(text::deployment);
    if (!diagnosis.together().isEmpty()) {
      text.table.across(new Cell("all servers together", Style.NAME));
      diagnosis
          .together()
          .forEach(each -> text.finding(each.severity(), "", each.problem(), each.remedy()));
    }
    text.verdict(diagnosis);
    return text.table.lines(colours);
  }

  private void deployment(Diagnosis.Deployment deployment) {
    for (ServerHealth.Server server : deployment.health().servers()) {
      boolean several = deployment.health().servers().size() > 1;
      table.across(
          new Cell(
              several ? deployment.uri() + ", master " + server.address() : deployment.uri(),
              Style.NAME));
      for (Check check : Check.values()) {
        check(server, check);
      }
    }
  }

  private void check(ServerHealth.Server server, Check check) {
    String name = check.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    List<Finding> findings =
        server.findings().stream().filter(finding -> finding.check() == check).toList();
    Optional.ofNullable(server.facts().get(check))
        .ifPresent(
            fact -> {
              if (findings.isEmpty()) {
                line(Severity.OK, name, fact);
              }
            });
    findings.forEach(
        finding -> finding(finding.severity(), name, finding.problem(), finding.remedy()));
  }

  private void finding(Severity severity, String check, String problem, String remedy) {
    line(severity, check, OptionNames.in(problem));
    String arrow = "-> ";
    for (String part : wrapped(OptionNames.in(remedy))) {
      table.row(Cell.plain(""), Cell.plain(""), new Cell(arrow + part, Style.FAINT));
      arrow = "   "; // one remedy has one arrow
    }
  }

  private void line(Severity severity, String check, String text) {
    boolean first = true;
    for (String part : wrapped(text)) {
      table.row(
          first ? new Cell("  " + word(severity), style(severity)) : Cell.plain(""),
          Cell.plain(first ? check : ""),
          Cell.plain(part));
      first = false;
    }
  }

  private void verdict(Diagnosis diagnosis) {
    Severity worst = diagnosis.severity();
    table.across(
        new Cell(
            switch (worst) {
              case OK -> "all is well";
              case INFO -> "all is well; see the notes";
              case WARNING -> "locks work, and may be lost or granted twice: see the warnings";
              case ERROR -> "locks do not work, or not all of them: see the problems";
            },
            style(worst)));
  }

  private static String word(Severity severity) {
    return switch (severity) {
      case OK -> "ok";
      case INFO -> "note";
      case WARNING -> "warning";
      case ERROR -> "problem";
    };
  }

  private static Style style(Severity severity) {
    return switch (severity) {
      case OK -> Style.GOOD;
      case INFO -> Style.PLAIN;
      case WARNING -> Style.WARNING;
      case ERROR -> Style.PROBLEM;
    };
  }

  /** Breaks a sentence between words, so that the table keeps its width. */
  private static List<String> wrapped(String text) {
    int most = WIDTH - VERDICT_WIDTH - CHECK_WIDTH - 8;
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > most) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
