package dev.kastor.local;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Places of the built parts of Kastor: in a checkout, or in an unpacked release, which has no
 * sources and keeps each jar and each native library once.
 *
 * @param root the folder of the checkout or release; {@code KASTOR_INSTALL}
 */
public record Installation(Path root) {
  /** File that every release has and no checkout: lines of {@code NAME=VALUE}. */
  private static final String RELEASE = "release";

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

  /** Whether this is an unpacked release. */
  boolean isRelease() {
    return Files.exists(root.resolve(RELEASE));
  }

  /** Commit that the release was built from; none in a checkout. */
  public Optional<String> commit() throws LocalException {
    if (!isRelease()) {
      return Optional.empty();
    }
    return lines(RELEASE).stream()
        .filter(line -> line.startsWith("COMMIT="))
        .map(line -> line.substring("COMMIT=".length()))
        .findFirst();
  }

  /** The command. */
  Path launcher() {
    return root.resolve("kastor");
  }

  /** The operator's jar. */
  Path operatorJar() throws LocalException {
    if (isRelease()) {
      return released("lib/operator/quarkus-run.jar");
    }
    Path jar = root.resolve("operator/target/quarkus-app/quarkus-run.jar");
    if (!Files.exists(jar)) {
      throw new LocalException(
          "the operator is not built: %s is missing. Run ./kastor build.".formatted(jar));
    }
    return jar;
  }

  /**
   * A file that the operator serves to browsers.
   *
   * @param path such as {@code /app/network.js}
   */
  public byte[] pageFile(String path) throws LocalException {
    Path folder = operatorJar().resolveSibling("app");
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(folder, "*.jar")) {
      for (Path jar : jars) {
        try (ZipFile file = new ZipFile(jar.toFile())) {
          ZipEntry entry = file.getEntry("META-INF/resources" + path);
          if (entry != null) {
            return file.getInputStream(entry).readAllBytes();
          }
        }
      }
    } catch (IOException e) {
      throw new LocalException("cannot read %s: %s".formatted(folder, e.getMessage()));
    }
    throw new LocalException("the operator in %s has no %s".formatted(folder, path));
  }

  /**
   * Options of a Java process that needs native libraries. Those of a release are unpacked, so that
   * no process has to do so; in a checkout they are in jars of the class path.
   */
  public List<String> nativeOptions() {
    return isRelease()
        ? List.of(
            "-Djava.library.path=" + root.resolve("lib/native"),
            "-Dorg.bytedeco.javacpp.pathsFirst=true")
        : List.of();
  }

  /** The class path of the agent: its own jar first. */
  public String agentClassPath() throws LocalException {
    List<Path> entries = isRelease() ? agentJars() : ownJars();
    if (!isRelease()) {
      // The system shows the arguments of a process up to a length, and those of all jars are
      // longer.
      entries.add(agentFolder().resolve("lib/*"));
    }
    return entries.stream().map(Path::toString).collect(Collectors.joining(":"));
  }

  /** The jars of the agent: its own first. */
  List<Path> agentJars() throws LocalException {
    List<Path> jars = isRelease() ? new ArrayList<>() : ownJars();
    if (isRelease()) {
      for (String jar : lines("lib/agent.classpath")) {
        jars.add(released(jar));
      }
    } else {
      jars.addAll(jars(agentFolder().resolve("lib"), ".*\\.jar"));
    }
    return jars;
  }

  /** Where a build leaves the agent. */
  Path agentFolder() {
    return root.resolve("training-agent/target");
  }

  private List<Path> ownJars() throws LocalException {
    List<Path> jars = jars(agentFolder(), "training-agent-.*(?<!-(sources|tests|javadoc))\\.jar");
    if (jars.isEmpty()) {
      throw new LocalException(
          "the agent is not built: no training-agent-*.jar in %s. Run ./kastor build."
              .formatted(agentFolder()));
    }
    return new ArrayList<>(jars);
  }

  private static List<Path> jars(Path folder, String names) throws LocalException {
    try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
      return files.filter(file -> file.getFileName().toString().matches(names)).sorted().toList();
    } catch (IOException e) {
      throw new LocalException("cannot read " + folder + ": " + e.getMessage());
    }
  }

  private List<String> lines(String path) throws LocalException {
    Path file = released(path);
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new LocalException("cannot read " + file + ": " + e.getMessage());
    }
  }

  private Path released(String path) throws LocalException {
    Path file = root.resolve(path);
    if (!Files.exists(file)) {
      throw new LocalException(
          "this release is incomplete: %s is missing. Unpack it again.".formatted(file));
    }
    return file;
  }

  /** The {@code java} of the JDK that runs this process. */
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
