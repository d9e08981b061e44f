package dev.kastor.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the documentation says of reasons is what the code can say. */
class ConditionsDocumentTest {
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final Pattern LITERAL = Pattern.compile("\"([A-Z][a-z]+(?:[A-Z][a-z]+)*)\"");
  private static final Pattern DOCUMENTED = Pattern.compile("`([A-Z][A-Za-z]+)`");

  @Test
  void theTablesHaveEveryReasonAndNoOther() throws IOException {
    Set<String> possible = new TreeSet<>();
    for (JobReason reason : JobReason.values()) {
      possible.add(reason.name());
    }
    // The policies' reasons, and those that the operator gives with an allocation.
    for (String sources : new String[] {"scheduler-core/src/main", "operator/src/main"}) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(sources))) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .filter(file -> !file.toString().contains("/advice/"))
            .map(ConditionsDocumentTest::text)
            .filter(text -> text.contains("Reason.of(") || text.contains("new Reason("))
            .flatMap(text -> LITERAL.matcher(text).results())
            .forEach(match -> possible.add(match.group(1)));
      }
    }
    Set<String> documented = new TreeSet<>();
    text(ROOT.resolve("docs/conditions.md"))
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.substring(0, line.indexOf('|', 1)))
        .flatMap(cell -> DOCUMENTED.matcher(cell).results())
        .forEach(match -> documented.add(match.group(1)));

    assertThat(possible).hasSizeGreaterThan(40);
    assertThat(documented).containsExactlyElementsOf(possible);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
