package dev.kastor.e2e.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.util.UUID;

/** The core knows no Kubernetes, JSON, files, sockets or clocks, and its layers point one way. */
@ArchTag("slow")
@AnalyzeClasses(locations = CompiledModules.class)
final class CorePurityTest {
  private static final DescribedPredicate<JavaClass> CORE = CompiledModules.of("scheduler-core");

  @ArchTest
  static final ArchRule NO_OUTSIDE_WORLD =
      noClasses()
          .that(CORE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.fabric8..",
              "io.quarkus..",
              "com.fasterxml..",
              "jakarta..",
              "java.io..",
              "java.nio.file..",
              "java.nio.channels..",
              "java.net..",
              "java.util.concurrent..");

  @ArchTest
  static final ArchRule NO_CLOCK =
      noClasses()
          .that(CORE)
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(LocalDateTime.class, "now")
          .orShould()
          .callMethod(ZonedDateTime.class, "now")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class);

  @ArchTest
  static final ArchRule NO_HIDDEN_RANDOMNESS =
      noClasses()
          .that(CORE)
          .should()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(UUID.class, "randomUUID");

  @ArchTest
  static final ArchRule WIRE_RECORDS_STAND_ALONE =
      noClasses()
          .that(CORE)
          .and()
          .resideInAPackage("dev.kastor.protocol")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.scheduler..");

  @ArchTest
  static final ArchRule PLUGINS_STAND_ALONE =
      noClasses()
          .that(CORE)
          .and()
          .resideInAPackage("dev.kastor.plugin")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.kastor.scheduler..", "dev.kastor.protocol..");

  @ArchTest
  static final ArchRule ONLY_HOSTS_KNOW_POLICIES =
      noClasses()
          .that(CORE)
          .and()
          .resideOutsideOfPackage("dev.kastor.scheduler.policy..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.scheduler.policy..");
}
