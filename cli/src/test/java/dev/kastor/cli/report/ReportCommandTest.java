package dev.kastor.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.TypeConversionException;

class ReportCommandTest {
  @TempDir private Path folder;

  private static final String REPORT = report(4_015_000);

  private static String report(long costMicros) {
    return """
    {"by": "QUEUE", "since": "2026-01-31", "until": "2026-02-01T10:00:00Z", "rows": [
      {"name": "", "held": 3600000, "useful": 1800000, "inefficient": 900000,
       "starting": 450000, "rescaling": 225000, "failures": 112500, "unknown": 112500,
       "costMicros": 0, "unpriced": 3600000},
      {"name": "red,\\"x", "held": 7200001, "useful": 7200001, "inefficient": 0,
       "starting": 0, "rescaling": 0, "failures": 0, "unknown": 0,
       "costMicros": %d, "unpriced": 0}]}
    """
        .formatted(costMicros);
  }

  @Tag("slow")
  @Test
  void printsGpuHoursWithTheirSum() throws Exception {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator = new FakeOperator().answer("/api/v1/usage", REPORT)) {
      List<String> lines =
          terminal.run("report", "--operator", operator.url()).out().lines().toList();
      assertThat(lines.getFirst()).isEqualTo("GPU-hours since 2026-01-31 00:00 UTC");
      assertThat(lines.get(1))
          .matches("QUEUE +HELD +USEFUL % +USEFUL +INEFFICIENT .* UNKNOWN +COST");
      assertThat(lines.get(2))
          .matches("\\(none\\) +1\\.000 +50\\.0 +0\\.500 +0\\.250 .* 0\\.031 +-");
      assertThat(lines.get(4)).matches("all +3\\.000 +83\\.3 +2\\.500 .* 4\\.02");
      assertThat(lines.get(5))
          .isEqualTo("1.000 GPU-hours were held on nodes without a price and are not in COST");
    }
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator = new FakeOperator().answer("/api/v1/usage", report(0))) {
      assertThat(terminal.run("report", "--operator", operator.url()).out())
          .as("where no node has a price")
          .doesNotContain("COST");
    }
  }

  @Tag("slow")
  @Test
  void csvIsInSecondsToTheMillisecond() throws Exception {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator = new FakeOperator().answer("/api/v1/usage", REPORT)) {
      assertThat(terminal.run("report", "-o", "csv", "--operator", operator.url()).out().lines())
          .containsExactly(
              "queue,held,useful,inefficient,starting,rescaling,failures,unknown,cost,unpriced",
              ",3600.000,1800.000,900.000,450.000,225.000,112.500,112.500,0.000000,3600.000",
              "\"red,\"\"x\",7200.001,7200.001,0.000,0.000,0.000,0.000,0.000,4.015000,0.000");
      assertThat(
              new ObjectMapper()
                  .readTree(
                      terminal.run("report", "-o", "json", "--operator", operator.url()).out()))
          .isEqualTo(new ObjectMapper().readTree(REPORT));
    }
  }

  @Tag("slow")
  @Test
  void saysWhatIsWrong() throws Exception {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator = new FakeOperator()) {
      Terminal.Result when = terminal.run("report", "--since", "yesterday");
      assertThat(when.code()).isEqualTo(ExitCode.USAGE);
      assertThat(when.err()).contains("24h").contains("2026-01-31").contains("yesterday");
      Terminal.Result by = terminal.run("report", "--by", "planet");
      assertThat(by.code()).isEqualTo(ExitCode.USAGE);
      assertThat(by.err())
          .contains("expected one of queue, namespace, user, family but was 'planet'");
      Terminal.Result old = terminal.run("report", "--operator", operator.url());
      assertThat(old.code()).isEqualTo(ExitCode.FAILED);
      assertThat(old.err()).contains("older than this command");
    }
  }

  @Test
  void beginsWithTheDayOfUtcThatWasSoLongAgo() {
    Instant now = Instant.parse("2026-03-02T01:00:00Z");
    assertThat(new ReportSince("24h").day(now)).isEqualTo(LocalDate.parse("2026-03-01"));
    assertThat(new ReportSince("2h").day(now)).isEqualTo(LocalDate.parse("2026-03-01"));
    assertThat(new ReportSince("1w").day(now)).isEqualTo(LocalDate.parse("2026-02-23"));
    assertThat(new ReportSince("2026-01-31").day(now)).isEqualTo(LocalDate.parse("2026-01-31"));
    assertThatThrownBy(() -> new ReportSince("0d").day(now))
        .isInstanceOf(TypeConversionException.class);
  }
}
