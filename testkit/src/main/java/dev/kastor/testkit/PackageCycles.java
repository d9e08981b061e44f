package dev.kastor.testkit;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.net.URL;

/** Rule for the packages of a module: none needs another that needs it. */
public final class PackageCycles {
  private PackageCycles() {}

  /**
   * Checks all packages of a module.
   *
   * @param any any class of the module; all classes that were compiled with it are read
   * @throws AssertionError if packages need each other; it names them and the places
   */
  public static void check(Class<?> any) {
    URL compiled = any.getProtectionDomain().getCodeSource().getLocation();
    ArchConfiguration.withThreadLocalScope(configuration -> {
      // What other modules and libraries need is their own affair, and takes long to read.
      configuration.setResolveMissingDependenciesFromClassPath(false);
      JavaClasses classes = new ClassFileImporter().importUrl(compiled);
      slices().matching("dev.kastor.(**)").should().beFreeOfCycles().check(classes);
    });
  }
}
