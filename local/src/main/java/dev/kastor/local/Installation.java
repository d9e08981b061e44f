package dev.kastor.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the built parts of Kastor lie.
 *
 * @param root the folder of the checkout; {@code KASTOR_INSTALL}
 */
public record Installation(Path root) {
  private static final String CRD = "META-INF/kastor/trainingjobs.kastor.dev-v1.yml";
  private static final List<String> CRDS =
      List.of(
          CRD,
          "META-INF/kastor/clustertrainingprofiles.kastor.dev-v1.yml",
          "META-INF/kastor/queues.kastor.dev-v1.yml");

  /** The installation that this process was started from. */
  public static Installation current() throws LocalException {
    String root = System.getenv("KASTOR_INSTALL");
    if (root == null || root.isEmpty()) {
      throw new LocalException(
          "KASTOR_INSTALL is not set, so the operator and the agent cannot be found. Start this"
              + " command through the launcher ./kastor.");
    }
    return new Installation(Path.of(root).toAbsolutePath().normalize());
  }

  /** The CRD of TrainingJobs on the class path. */
  public static String crdResource() {
    return CRD;
  }

  /** All CRDs on the class path, that of TrainingJobs first. */
  public static List<String> crdResources() {
    return CRDS;
  }

  /** The operator's jar. */
  Path operatorJar() throws LocalException {
    Path jar = root.resolve("operator/target/quarkus-app/quarkus-run.jar");
    if (!Files.exists(jar)) {
      throw new LocalException(
          "the operator is not built: %s is missing. Run ./kastor build.".formatted(jar));
    }
    return jar;
  }

  /** The class path of the agent: its own jar first. */
  public String agentClassPath() throws LocalException {
    Path target = root.resolve("training-agent/target");
    List<String> entries = new ArrayList<>();
    try (Stream<Path> files = Files.isDirectory(target) ? Files.list(target) : Stream.empty()) {
      files
          .filter(f -> f.getFileName().toString().matches("training-agent-.*\\.jar"))
          .filter(f -> !f.getFileName().toString().matches(".*-(sources|tests|javadoc)\\.jar"))
          .sorted()
          .forEach(f -> entries.add(f.toString()));
    } catch (IOException e) {
      throw new LocalException("cannot read " + target + ": " + e.getMessage());
    }
    if (entries.isEmpty()) {
      throw new LocalException(
          "the agent is not built: no training-agent-*.jar in %s. Run ./kastor build."
              .formatted(target));
    }
    entries.add(target.resolve("lib") + "/*");
    return String.join(":", entries);
  }

  /** The {@code java} of the JDK that runs this process. */
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
