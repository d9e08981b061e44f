package dev.kastor.e2e.image;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Runs the agent once, without an operator, until it is ready to train, so that the JVM notes which
 * classes that took and how they were linked (JEP 483, JEP 514). With what it notes, a replica
 * starts with half the work.
 */
final class Rehearsal {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final FileTime NO_TIME = FileTime.fromMillis(0);
  private static final String READY = "is ready with";

  private Rehearsal() {}

  /**
   * Makes the cache.
   *
   * @param command the image's, with paths to {@linkplain #stage staged} files
   * @param cache the file to make
   */
  static void run(List<String> command, Path cache) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("rehearsal");
    Path log = folder.resolve("log");
    List<String> all = new ArrayList<>(command);
    all.add(1, "-XX:AOTCacheOutput=" + cache);
    ProcessBuilder builder =
        new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment(folder));
    Process agent = builder.start();
    try {
      long until = System.nanoTime() + PATIENCE.toNanos();
      while (!Files.readString(log).contains(READY)) {
        if (!agent.isAlive() || System.nanoTime() > until) {
          throw new IOException("the agent did not get ready: " + Files.readString(log));
        }
        Thread.sleep(100);
      }
      // The cache is written when it ends.
      agent.destroy();
      if (!agent.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) || !Files.exists(cache)) {
        throw new IOException("the JVM made no cache: " + Files.readString(log));
      }
    } finally {
      agent.destroyForcibly();
      delete(folder);
    }
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

  private static Map<String, String> environment(Path folder) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "none");
    Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
    Path authority = Files.writeString(folder.resolve("ca.pem"), anyAuthority());
    Path checkpoints = Files.createDirectory(folder.resolve("checkpoints"));
    return Map.ofEntries(
        Map.entry("KASTOR_NAMESPACE", "rehearsal"),
        Map.entry("KASTOR_JOB", "rehearsal"),
        Map.entry("KASTOR_JOB_UID", "rehearsal"),
        Map.entry("KASTOR_POD", "rehearsal-0"),
        Map.entry("KASTOR_POD_IP", "127.0.0.1"),
        // Nobody listens there.
        Map.entry("KASTOR_OPERATOR_URL", "https://127.0.0.1:1"),
        Map.entry("KASTOR_TOKEN_FILE", token.toString()),
        Map.entry("KASTOR_CA_FILE", authority.toString()),
        Map.entry("KASTOR_RING_SECRET_FILE", secret.toString()),
        Map.entry("KASTOR_CHECKPOINT_DIR", checkpoints.toString()),
        Map.entry("KASTOR_TERMINATION_LOG", folder.resolve("termination").toString()),
        Map.entry(
            "KASTOR_JOB_SPEC",
            """
            {"program": {"name": "byte-lm"},
             "goodput": {"batchSize": {"initial": 16}, "learningRate": {"base": "0.002"},
                         "work": {"steps": 100}}}
            """));
  }

  private static String anyAuthority() throws IOException {
    try {
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init((KeyStore) null);
      for (TrustManager manager : trust.getTrustManagers()) {
        if (manager instanceof X509TrustManager x509) {
          X509Certificate first = x509.getAcceptedIssuers()[0];
          String body =
              Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                  .encodeToString(first.getEncoded());
          return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
        }
      }
      throw new IOException("this JDK trusts nobody");
    } catch (GeneralSecurityException e) {
      throw new IOException("this JDK's authorities cannot be read", e);
    }
  }
}
