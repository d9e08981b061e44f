package dev.kastor.e2e.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the agent through what a replica may live, so that the JVM notes which classes that took,
 * how they were linked and which methods are worth compiling (JEP 483, JEP 514, JEP 515). With what
 * it notes, a replica starts with half the work and joins others without loading a class.
 */
final class Rehearsal {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final FileTime NO_TIME = FileTime.fromMillis(0);

  private Rehearsal() {}

  /**
   * Makes the cache.
   *
   * @param command the image's, with paths to {@linkplain #stage staged} files
   * @param cache the file to make
   */
  static void run(List<String> command, Path cache) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("rehearsal");
    try {
      OwnCertificate certificate = OwnCertificate.make(folder);
      Map<String, String> all = settings(folder, certificate.pem());
      List<String> recorded = new ArrayList<>(command);
      recorded.add(1, "-XX:AOTCacheOutput=" + cache);
      try (RehearsalOperator operator = new RehearsalOperator(certificate.server())) {
        all.put("KASTOR_OPERATOR_URL", operator.url());
        Process partner = start(command, all, RehearsalOperator.PARTNER, folder);
        Process agent = start(recorded, all, RehearsalOperator.RECORDED, folder);
        try {
          await(agent, cache, folder);
        } finally {
          partner.destroyForcibly().waitFor();
          agent.destroyForcibly().waitFor();
        }
      }
    } finally {
      delete(folder);
    }
  }

  /** The cache is written when the agent ends. */
  private static void await(Process agent, Path cache, Path folder)
      throws IOException, InterruptedException {
    boolean over = agent.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    if (!over || agent.exitValue() != 0 || !Files.exists(cache)) {
      throw new IOException(
          "the agent %s:%n%s%s"
              .formatted(
                  over ? "left no cache" : "did not end",
                  Files.readString(log(folder, RehearsalOperator.PARTNER)),
                  Files.readString(log(folder, RehearsalOperator.RECORDED))));
    }
  }

  private static Process start(
      List<String> command, Map<String, String> settings, String pod, Path folder)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log(folder, pod).toFile());
    builder.environment().putAll(settings);
    builder.environment().put("KASTOR_POD", pod);
    builder.environment().put("KASTOR_TERMINATION_LOG", folder.resolve(pod + ".end").toString());
    return builder.start();
  }

  private static Path log(Path folder, String pod) {
    return folder.resolve(pod + ".log");
  }

  /** Puts files into a folder as the image has them, without times: the JVM compares. */
  static void stage(Map<String, Path> files, Path root) throws IOException {
    for (Map.Entry<String, Path> file : files.entrySet()) {
      Path to = root.resolve(file.getKey());
      Files.createDirectories(to.getParent());
      Files.copy(
          file.getValue(),
          to,
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
      Files.setLastModifiedTime(to, NO_TIME);
    }
  }

  static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static Map<String, String> settings(Path folder, String authority) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "none");
    Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
    Path trusted = Files.writeString(folder.resolve("ca.pem"), authority);
    Path checkpoints = Files.createDirectory(folder.resolve("checkpoints"));
    return new HashMap<>(
        Map.of(
            "KASTOR_NAMESPACE",
            RehearsalOperator.JOB,
            "KASTOR_JOB",
            RehearsalOperator.JOB,
            "KASTOR_JOB_UID",
            RehearsalOperator.JOB,
            "KASTOR_POD_IP",
            "127.0.0.1",
            "KASTOR_TOKEN_FILE",
            token.toString(),
            "KASTOR_CA_FILE",
            trusted.toString(),
            "KASTOR_RING_SECRET_FILE",
            secret.toString(),
            "KASTOR_CHECKPOINT_DIR",
            checkpoints.toString(),
            "KASTOR_JOB_SPEC",
            """
            {"program": {"name": "byte-lm"},
             "goodput": {"batchSize": {"initial": 16}, "learningRate": {"base": "0.002"},
                         "work": {"steps": 1000000}}}
            """));
  }
}
