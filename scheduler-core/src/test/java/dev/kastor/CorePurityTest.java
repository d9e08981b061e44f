package dev.kastor;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.util.UUID;

/** The core knows no Kubernetes, JSON, files, sockets or clocks, and its layers point one way. */
@AnalyzeClasses(
    packages = "dev.kastor",
    importOptions = {ImportOption.DoNotIncludeTests.class, CorePurityTest.NoTools.class})
final class CorePurityTest {
  /** Everything but the tools of the tests, which may read files. */
  static final class NoTools implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("dev/kastor/testkit/");
    }
  }

  @ArchTest
  static final ArchRule NO_OUTSIDE_WORLD =
      noClasses()
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
          .should()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(UUID.class, "randomUUID");

  @ArchTest
  static final ArchRule WIRE_RECORDS_STAND_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.kastor.protocol")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.scheduler..");

  @ArchTest
  static final ArchRule PLUGINS_STAND_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.kastor.plugin")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.kastor.scheduler..", "dev.kastor.protocol..");

  @ArchTest
  static final ArchRule ONLY_HOSTS_KNOW_POLICIES =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.kastor.scheduler.policy..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.kastor.scheduler.policy..");
}
