package dev.kastor.cli;

import dev.kastor.cli.job.JobCheck;
import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.local.Installation;
import dev.kastor.local.Kubeconfig;
import dev.kastor.local.TlsMaterial;
import dev.kastor.local.api.ApiServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Run of the commands that ask a cluster, against a server in another process. The launcher has the
 * JVM write down what they load and link, so that later runs begin with it (JEP 483).
 */
final class Rehearsal {
  private static final URI NO_OPERATOR = URI.create("http://127.0.0.1:9/");

  private Rehearsal() {}

  /**
   * Runs them; or, with a folder alone, the server until its input ends.
   *
   * @param arguments the file of a TrainingJob, and its name; or the folder, where the server
   *     leaves its kubeconfig
   */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 1) {
      serve(Path.of(arguments[0]));
      return;
    }
    Path folder = Files.createTempDirectory("kastor-rehearsal");
    try {
      rehearse(folder, arguments[0], arguments[1]);
    } finally {
      delete(folder);
    }
  }

  private static void rehearse(Path folder, String file, String job) throws IOException {
    Process server =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Rehearsal.class.getName(),
                    folder.toString()))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      // A line says that it is ready; none, that it ended.
      if (server.inputReader().readLine() == null) {
        throw new IOException("the server did not start");
      }
      String to = "--kubeconfig=" + folder.resolve("kubeconfig");
      run("submit", to, file);
      // As submit does for the cluster of this machine, which this server is not.
      new JobCheck(folder, folder).check(ManifestFile.read(Path.of(file)).getFirst());
      run("ls", to);
      run("describe", to, job);
      run("why", to, job);
      run("rm", to, job);
      try (RehearsedOperator operator = RehearsedOperator.start()) {
        run("whatif", to, "--operator", operator.url(), "--add", file);
      }
    } finally {
      server.destroy();
    }
  }

  private static void serve(Path folder) throws IOException {
    TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
    try (ApiServer server =
        ApiServer.start(0, (namespace, pod) -> folder.resolve(pod), tls.context())) {
      for (String resource : Installation.crdResources()) {
        try (InputStream crd = Rehearsal.class.getClassLoader().getResourceAsStream(resource)) {
          server.define(Objects.requireNonNull(crd));
        }
      }
      Files.writeString(
          folder.resolve("kubeconfig"),
          Kubeconfig.of(
              server.uri(),
              Files.readAllBytes(tls.authority()),
              server.tokens().admin(),
              NO_OPERATOR));
      System.out.println("ready");
      while (System.in.read() >= 0) {
        // Until who started it ends.
      }
    }
  }

  private static void run(String... command) {
    Kastor.run(new StringWriter(), new StringWriter(), command);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
