package dev.kastor.cli.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.connect.OperatorAway;
import dev.kastor.cli.connect.OperatorPage;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.Table;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Prints what the operator tells of usage. */
final class Reports {
  private static final List<String> PARTS =
      List.of("held", "useful", "inefficient", "starting", "rescaling", "failures", "unknown");

  private static final double HOUR_MILLIS = 3_600_000;

  private final ClusterOptions options;
  private final PrintWriter out;

  Reports(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void print(ReportBy by, LocalDate since, ReportOutput output) {
    JsonNode report = report(by, since);
    switch (output) {
      case JSON -> Output.JSON.print(report, out);
      case CSV -> csv(by, report);
      case TABLE -> table(by, report);
    }
    out.flush();
  }

  private JsonNode report(ReportBy by, LocalDate since) {
    String path = "/api/v1/usage";
    try (Cluster cluster = Cluster.connect(options);
        OperatorPage page = OperatorPage.open(cluster, options)) {
      return page.json("%s?by=%s&since=%s".formatted(path, name(by), since))
          .orElseThrow(() ->
              new CliException(
                  ExitCode.FAILED,
                  "the operator is older than this command and keeps no account of GPU time"));
    } catch (OperatorAway e) {
      throw new CliException(
          ExitCode.FAILED, "usage is known to the operator alone: " + e.getMessage(), e);
    }
  }

  private void table(ReportBy by, JsonNode report) {
    JsonNode rows = report.path("rows");
    out.println("GPU-hours since %s 00:00 UTC".formatted(report.path("since").asText()));
    if (rows.isEmpty()) {
      out.println("no job held a GPU");
      return;
    }
    List<String> header = new ArrayList<>(List.of(name(by).toUpperCase(Locale.ROOT)));
    PARTS.forEach(part -> header.add(part.toUpperCase(Locale.ROOT)));
    header.add(2, "USEFUL %");
    Table table = new Table(header.toArray(String[]::new)).rightFrom(1);
    long[] total = new long[PARTS.size()];
    for (JsonNode row : rows) {
      long[] millis = PARTS.stream().mapToLong(part -> row.path(part).asLong()).toArray();
      for (int i = 0; i < total.length; i++) {
        total[i] += millis[i];
      }
      table.row(cells(name(row), millis));
    }
    if (rows.size() > 1) {
      table.row(cells("all", total));
    }
    table.lines().forEach(out::println);
  }

  private static List<String> cells(String name, long[] millis) {
    List<String> cells = new ArrayList<>(List.of(name));
    for (long part : millis) {
      cells.add(String.format(Locale.ROOT, "%.3f", part / HOUR_MILLIS));
    }
    cells.add(
        2,
        millis[0] == 0 ? "-" : String.format(Locale.ROOT, "%.1f", 100.0 * millis[1] / millis[0]));
    return cells;
  }

  private void csv(ReportBy by, JsonNode report) {
    out.println(name(by) + "," + String.join(",", PARTS));
    for (JsonNode row : report.path("rows")) {
      List<String> cells = new ArrayList<>(List.of(quoted(row.path("name").asText())));
      PARTS.forEach(part -> cells.add(BigDecimal.valueOf(row.path(part).asLong(), 3).toString()));
      out.println(String.join(",", cells));
    }
  }

  /** A spreadsheet takes what begins with a sign for a formula. */
  private static String quoted(String text) {
    String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
    return safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
        ? "\"" + safe.replace("\"", "\"\"") + "\""
        : safe;
  }

  private static String name(JsonNode row) {
    String name = row.path("name").asText();
    return name.isEmpty() ? "(none)" : name;
  }

  private static String name(ReportBy by) {
    return by.name().toLowerCase(Locale.ROOT);
  }
}
