package dev.kastor.crds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.testkit.GoldenFile;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The reference in {@code docs/reference} is what the definitions of the chart say.
 *
 * <p>Run with {@code -Dkastor.golden.write=true} to rewrite it after changing a definition.
 */
final class CrdReferenceTest {
  private static final Path ROOT = Path.of(System.getProperty("kastor.root", ".."));
  private static final Path DEFINITIONS = ROOT.resolve("helm/kastor/crds");
  private static final Path REFERENCE = ROOT.resolve("docs/reference");

  @TestFactory
  Stream<DynamicTest> pagesAreWhatTheDefinitionsSay() throws IOException {
    return definitions().stream()
        .map(crd -> DynamicTest.dynamicTest(crd.getSpec().getNames().getKind(), () -> check(crd)));
  }

  @Test
  void everyPageHasADefinition() throws IOException {
    try (Stream<Path> pages = Files.list(REFERENCE)) {
      assertThat(
              pages
                  .filter(CrdReferenceTest::isOfADefinition)
                  .map(page -> page.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              definitions().stream().map(CrdReferenceTest::page).toList());
    }
  }

  /** Whether a page is generated here: the folder has those of policies too. */
  private static boolean isOfADefinition(Path page) {
    try {
      return Files.readString(page).contains(CrdReferenceTest.class.getSimpleName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void check(CustomResourceDefinition crd) throws IOException {
    GoldenFile.at(REFERENCE.resolve(page(crd))).holds(new CrdPage(crd).text());
  }

  private static String page(CustomResourceDefinition crd) {
    return crd.getSpec().getNames().getKind().toLowerCase(Locale.ROOT) + ".md";
  }

  private static List<CustomResourceDefinition> definitions() throws IOException {
    try (Stream<Path> files = Files.list(DEFINITIONS)) {
      List<Path> sorted = files.sorted().toList();
      assertThat(sorted).isNotEmpty();
      return sorted.stream().map(CrdReferenceTest::read).toList();
    }
  }

  private static CustomResourceDefinition read(Path file) {
    try {
      return Serialization.unmarshal(Files.readString(file), CustomResourceDefinition.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
