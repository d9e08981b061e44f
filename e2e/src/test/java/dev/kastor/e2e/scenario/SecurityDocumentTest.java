package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each threat of {@code docs/security.md} names a test, and that test is there. */
final class SecurityDocumentTest {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root", "..")).toAbsolutePath();
  private static final Pattern NAMED =
      Pattern.compile("`([A-Z]\\w*(?:Test|IT|Scenario))(?:\\.(\\w+))?`");
  private static final int COLUMNS = 3;

  @Test
  void everyThreatHasItsTests() throws IOException {
    Map<String, List<String>> sources = sources();
    List<String> rows =
        Files.readAllLines(ROOT.resolve("docs/security.md")).stream()
            .filter(line -> line.startsWith("| ") && !line.startsWith("| threat"))
            // Actors have a table of their own, which names sections and not tests.
            .filter(line -> !line.startsWith("| actor") && !line.startsWith("| **"))
            .toList();
    assertThat(rows).hasSizeGreaterThan(20);
    for (String row : rows) {
      String[] columns = row.substring(1, row.length() - 1).split("\\|", -1);
      assertThat(columns).as(row).hasSize(COLUMNS);
      Matcher named = NAMED.matcher(columns[COLUMNS - 1]);
      int tests = 0;
      while (named.find()) {
        tests++;
        List<String> files = sources.getOrDefault(named.group(1), List.of());
        assertThat(files).as("there is no " + named.group(1)).isNotEmpty();
        if (named.group(2) != null) {
          String method = "void " + named.group(2) + "(";
          assertThat(files)
              .as("there is no test %s of %s", named.group(2), named.group(1))
              .anyMatch(source -> source.contains(method));
        }
      }
      assertThat(tests).as("names no test: " + row).isPositive();
    }
  }

  private static Map<String, List<String>> sources() throws IOException {
    Map<String, List<String>> sources = new HashMap<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.filter(m -> Files.isDirectory(m.resolve("src"))).toList()) {
        try (Stream<Path> files = Files.walk(module.resolve("src"))) {
          for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
            String name = file.getFileName().toString().replace(".java", "");
            if (name.matches(".*(Test|IT|Scenario)")) {
              sources.computeIfAbsent(name, n -> new ArrayList<>()).add(Files.readString(file));
            }
          }
        }
      }
    }
    return sources;
  }
}
