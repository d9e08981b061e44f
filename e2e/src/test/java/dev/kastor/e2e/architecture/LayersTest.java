package dev.kastor.e2e.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;

/** Layers of the training agent. */
@ArchTag("slow")
@AnalyzeClasses(locations = CompiledModules.class)
final class LayersTest {
  @ArchTest
  static void ringNeedsTheJdkOnly(JavaClasses all) {
    classes()
        .that()
        .resideInAPackage("dev.kastor.agent.ring")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.kastor.agent.ring", "java..", "javax.crypto..", "org.slf4j..", "org.jspecify..")
        .check(all);
  }

  @ArchTest
  static void whatTheTrainerUsesDoesNotKnowIt(JavaClasses all) {
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
        .check(all);
  }
}
