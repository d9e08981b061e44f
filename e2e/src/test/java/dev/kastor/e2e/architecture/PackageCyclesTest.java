package dev.kastor.e2e.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import java.util.List;
import java.util.stream.Stream;

/** Packages of each module: none needs another that needs it. */
@ArchTag("slow")
@AnalyzeClasses(locations = CompiledModules.class)
final class PackageCyclesTest {
  @ArchTest
  static void noPackagesNeedEachOther(JavaClasses all) {
    List<String> cycles =
        CompiledModules.names().stream()
            .flatMap(module -> cycles(module, all.that(CompiledModules.of(module))))
            .toList();
    assertThat(cycles).isEmpty();
  }

  private static Stream<String> cycles(String module, JavaClasses classes) {
    assertThat(classes).as("classes of module %s", module).isNotEmpty();
    return slices()
        .matching("dev.kastor.(**)")
        .should()
        .beFreeOfCycles()
        .evaluate(classes)
        .getFailureReport()
        .getDetails()
        .stream()
        .map(cycle -> "module %s: %s".formatted(module, cycle));
  }
}
