package dev.kastor.cli;

import dev.kastor.local.Installation;
import dev.kastor.local.Kubeconfig;
import dev.kastor.local.api.ApiServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;

/** Somebody at a command line with an API server that knows TrainingJobs, and no operator. */
final class Terminal implements AutoCloseable {
  final ApiServer server;
  private final Path kubeconfig;

  Terminal(Path folder) throws IOException {
    server = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod + ".log"));
    try (InputStream crd =
        Terminal.class.getClassLoader().getResourceAsStream(Installation.crdResource())) {
      server.define(Objects.requireNonNull(crd));
    }
    kubeconfig = folder.resolve("kubeconfig");
    Files.writeString(kubeconfig, Kubeconfig.of(server.uri(), server.tokens().admin()));
  }

  /** Runs a command against the server. */
  Result run(String command, String... arguments) {
    List<String> all = new ArrayList<>(List.of(command, "--kubeconfig", kubeconfig.toString()));
    all.addAll(List.of(arguments));
    return runPlain(all.toArray(String[]::new));
  }

  static Result runPlain(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Kastor.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    int code = line.execute(arguments);
    return new Result(code, out.toString(), err.toString());
  }

  @Override
  public void close() {
    server.close();
  }

  /** What came of a command. */
  record Result(int code, String out, String err) {}
}
