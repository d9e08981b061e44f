package dev.kastor.e2e.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Layers of the engine. */
@ArchTag("slow")
@AnalyzeClasses(locations = CompiledModules.class)
final class EngineArchitectureTest {
  @ArchTest
  static final ArchRule ENGINE_KNOWS_NO_AGENT =
      noClasses()
          .that()
          .resideInAPackage("dev.kastor.engine..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.agent..");

  @ArchTest
  static final ArchRule ARITHMETIC_KNOWS_NO_TRAINING =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.kastor.engine.tensor..",
              "dev.kastor.engine.graph..",
              "dev.kastor.engine.op..",
              "dev.kastor.engine.autodiff..",
              "dev.kastor.engine.backend..",
              "dev.kastor.engine.exec..",
              "dev.kastor.engine.eager..",
              "dev.kastor.engine.placement..",
              "dev.kastor.engine.partition..",
              "dev.kastor.engine.nn..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.kastor.engine.train..",
              "dev.kastor.engine.data..",
              "dev.kastor.engine.optim..",
              "dev.kastor.engine.program..");

  @ArchTest
  static final ArchRule EXECUTORS_KNOW_NO_PARTICULAR_BACKEND =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.kastor.engine.exec..",
              "dev.kastor.engine.eager..",
              "dev.kastor.engine.placement..",
              "dev.kastor.engine.partition..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.kastor.engine.backend.cpu..",
              "dev.kastor.engine.backend.reference..",
              "dev.kastor.engine.backend.registry..");

  @ArchTest
  static final ArchRule GRAPHS_KNOW_NO_BACKEND =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.kastor.engine.tensor..",
              "dev.kastor.engine.graph..",
              "dev.kastor.engine.op..",
              "dev.kastor.engine.autodiff..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.engine.backend..");
}
