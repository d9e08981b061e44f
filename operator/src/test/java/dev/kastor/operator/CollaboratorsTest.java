package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.resolvers.SelectedClassResolverFromClasspath;
import dev.kastor.operator.config.OperatorConfig;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CollaboratorsTest {
  private static final int MOST = 10;

  /** The operator's, and of others what tells a record from a class. */
  private static final JavaClasses CLASSES =
      ArchConfiguration.withThreadLocalScope(configuration -> {
        configuration.setClassResolver(SelectedClassResolverFromClasspath.class);
        configuration.setClassResolverArguments("dev.kastor");
        return new ClassFileImporter()
            .importUrl(OperatorConfig.class.getProtectionDomain().getCodeSource().getLocation());
      });

  @Test
  void noClassIsMadeFromMoreThanTen() {
    Map<String, Long> parameters = new TreeMap<>();
    CLASSES.stream()
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

  @Test
  void noClassWorksWithMoreThanTen() {
    Map<String, Long> fields = new TreeMap<>();
    CLASSES.stream()
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
