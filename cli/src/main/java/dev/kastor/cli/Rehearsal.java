package dev.kastor.cli;

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
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Run of the commands that ask a cluster, against a server of its own. The launcher has the JVM
 * write down what they load and link, so that later runs begin with it (JEP 483).
 */
final class Rehearsal {
  private static final URI NO_OPERATOR = URI.create("http://127.0.0.1:9/");

  private Rehearsal() {}

  /**
   * Runs them.
   *
   * @param arguments the file of a TrainingJob, and its name
   */
  public static void main(String[] arguments) throws IOException {
    Path folder = Files.createTempDirectory("kastor-rehearsal");
    try {
      TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
      try (ApiServer server =
          ApiServer.start(0, (namespace, pod) -> folder.resolve(pod), tls.context())) {
        for (String resource : Installation.crdResources()) {
          try (InputStream crd = Rehearsal.class.getClassLoader().getResourceAsStream(resource)) {
            server.define(Objects.requireNonNull(crd));
          }
        }
        Path kubeconfig = folder.resolve("kubeconfig");
        Files.writeString(
            kubeconfig,
            Kubeconfig.of(
                server.uri(),
                Files.readAllBytes(tls.authority()),
                server.tokens().admin(),
                NO_OPERATOR));
        String to = "--kubeconfig=" + kubeconfig;
        run("submit", to, arguments[0]);
        run("ls", to);
        run("describe", to, arguments[1]);
        run("why", to, arguments[1]);
        run("rm", to, arguments[1]);
      }
    } finally {
      delete(folder);
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
