package dev.kastor.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who may use whom inside the module. */
@Tag("slow")
class LayersTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.kastor.agent");

  @Test
  void ringNeedsTheJdkOnly() {
    classes()
        .that()
        .resideInAPackage("dev.kastor.agent.ring")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.kastor.agent.ring", "java..", "javax.crypto..", "org.slf4j..", "org.jspecify..")
        .check(ALL);
  }

  @Test
  void whatTheTrainerUsesDoesNotKnowIt() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.kastor.agent.membership..",
            "dev.kastor.agent.telemetry..",
            "dev.kastor.agent.operator..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.kastor.agent.trainer..", "dev.kastor.agent.ring..", "dev.kastor.engine..")
        .check(ALL);
  }
}
