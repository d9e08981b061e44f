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
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Prints what the operator tells of usage. */
final class Reports {
  private static final List<String> PARTS =
      List.of("held", "useful", "inefficient", "starting", "rescaling", "failures", "unknown");

  private static final double HOUR_MILLIS = 3_600_000;
  private static final String COST = "costMicros";
  private static final String UNPRICED = "unpriced";

  /** Decimal digits of millionths. */
  private static final int MICROS = 6;

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
    boolean priced = stream(rows).anyMatch(row -> row.path(COST).asLong() > 0);
    if (priced) {
      header.add("COST");
    }
    Table table = new Table(header.toArray(String[]::new)).rightFrom(1);
    for (JsonNode row : rows) {
      table.row(cells(name(row), List.of(row), priced));
    }
    if (rows.size() > 1) {
      table.row(cells("all", stream(rows).toList(), priced));
    }
    table.lines().forEach(out::println);
    long unpriced = sum(stream(rows).toList(), UNPRICED);
    if (priced && unpriced > 0) {
      out.println(
          "%s GPU-hours were held on nodes without a price and are not in COST"
              .formatted(hours(unpriced)));
    }
  }

  private static List<String> cells(String name, List<JsonNode> rows, boolean priced) {
    List<String> cells = new ArrayList<>(List.of(name));
    PARTS.forEach(part -> cells.add(hours(sum(rows, part))));
    long held = sum(rows, PARTS.getFirst());
    cells.add(
        2,
        held == 0
            ? "-"
            : String.format(Locale.ROOT, "%.1f", 100.0 * sum(rows, PARTS.get(1)) / held));
    if (priced && sum(rows, UNPRICED) == held) {
      cells.add("-");
    } else if (priced) {
      cells.add(
          BigDecimal.valueOf(sum(rows, COST), MICROS)
              .setScale(2, RoundingMode.HALF_UP)
              .toPlainString());
    }
    return cells;
  }

  private static String hours(long millis) {
    return String.format(Locale.ROOT, "%.3f", millis / HOUR_MILLIS);
  }

  private static long sum(List<JsonNode> rows, String part) {
    return rows.stream().mapToLong(row -> row.path(part).asLong()).sum();
  }

  private static Stream<JsonNode> stream(JsonNode rows) {
    return StreamSupport.stream(rows.spliterator(), false);
  }

  private void csv(ReportBy by, JsonNode report) {
    out.println("%s,%s,cost,%s".formatted(name(by), String.join(",", PARTS), UNPRICED));
    for (JsonNode row : report.path("rows")) {
      List<String> cells = new ArrayList<>(List.of(quoted(row.path("name").asText())));
      PARTS.forEach(part -> cells.add(seconds(row, part)));
      cells.add(BigDecimal.valueOf(row.path(COST).asLong(), MICROS).toPlainString());
      cells.add(seconds(row, UNPRICED));
      out.println(String.join(",", cells));
    }
  }

  private static String seconds(JsonNode row, String part) {
    return BigDecimal.valueOf(row.path(part).asLong(), 3).toPlainString();
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
