package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.metrics.Families.Family;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.testkit.GoldenFile;
import java.io.IOException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The table of metrics in {@code docs/metrics.md} is what the operator counts.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite it after changing a metric.
 */
final class MetricsReferenceTest {
  private static final String BEGIN =
      "<!-- Below is generated from Metrics.java by MetricsReferenceTest; do not edit. -->";

  @Test
  void theTableIsWhatTheOperatorCounts() throws IOException {
    GoldenFile.ofRepository("docs/metrics.md").holdsBelow(BEGIN, table());
  }

  @Test
  void namesAreOfOneKind() {
    assertThat(new Metrics().families())
        .allSatisfy(family -> {
          assertThat(family.name()).matches("kastor(_[a-z]+)+");
          assertThat(family.help()).endsWith(".").doesNotContain("|");
          assertThat(family.name().endsWith("_total")).isEqualTo(is(family, "counter"));
        });
  }

  private static boolean is(Family family, String type) {
    return family.type().equals(type);
  }

  private static String table() {
    return new Metrics()
        .families().stream()
            .map(MetricsReferenceTest::row)
            .collect(
                Collectors.joining(
                    "", "\n| metric | type | labels | what |\n|---|---|---|---|\n", ""));
  }

  private static String row(Family family) {
    String labels =
        family.labels().stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
    return "| `%s` | %s | %s | %s |%n"
        .formatted(family.name(), family.type(), labels, family.help());
  }
}
