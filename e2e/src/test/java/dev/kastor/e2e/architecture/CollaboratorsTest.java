package dev.kastor.e2e.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import java.util.Map;
import java.util.TreeMap;

/** Number of collaborators of the operator's classes. */
@ArchTag("slow")
@AnalyzeClasses(locations = CompiledModules.class)
final class CollaboratorsTest {
  private static final int MOST = 10;

  @ArchTest
  static void noClassIsMadeFromMoreThanTen(JavaClasses all) {
    Map<String, Long> parameters = new TreeMap<>();
    all.that(CompiledModules.of("operator")).stream()
        .filter(CollaboratorsTest::acts)
        .forEach(type ->
            type.getConstructors().stream()
                .filter(made -> !made.getModifiers().contains(JavaModifier.SYNTHETIC))
                .mapToLong(made -> made.getRawParameterTypes().size())
                .max()
                .ifPresent(most -> parameters.put(type.getName(), most)));
    assertThat(parameters).containsKey("dev.kastor.operator.reconcile.TrainingJobReconciler");
    parameters.values().removeIf(most -> most <= MOST);
    assertThat(parameters).isEmpty();
  }

  @ArchTest
  static void noClassWorksWithMoreThanTen(JavaClasses all) {
    Map<String, Long> fields = new TreeMap<>();
    all.that(CompiledModules.of("operator")).stream()
        .filter(CollaboratorsTest::acts)
        .forEach(type ->
            fields.put(
                type.getName(),
                type.getFields().stream()
                    .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                    .map(JavaField::getRawType)
                    .filter(CollaboratorsTest::acts)
                    .distinct()
                    .count()));
    assertThat(fields).containsKey("dev.kastor.operator.reconcile.TrainingJobReconciler");
    fields.values().removeIf(types -> types <= MOST);
    assertThat(fields).isEmpty();
  }

  /** Whether it is a type of the project that is more than data. */
  private static boolean acts(JavaClass type) {
    return type.getName().startsWith("dev.kastor.") && !type.isRecord() && !type.isEnum();
  }
}
