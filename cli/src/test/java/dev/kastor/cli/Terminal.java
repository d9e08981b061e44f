package dev.kastor.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.Installation;
import dev.kastor.local.Kubeconfig;
import dev.kastor.local.api.ApiServer;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.Options;
import dev.kastor.local.api.ResourceType;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Somebody at a command line with an API server that knows TrainingJobs, and no operator. */
public final class Terminal implements AutoCloseable {
  /** Nothing listens on the discard port. */
  private static final URI NO_OPERATOR = URI.create("http://127.0.0.1:9/");

  /** A job that may have 1 to 4 replicas. */
  public static final String JOB =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: digits}
      spec:
        program: {name: glyph-mlp}
        elastic:
          maxReplicas: 4
        goodput:
          batchSize: {initial: 64}
          learningRate: {base: "0.05"}
          work: {epochs: 10}
      """;

  public final ApiServer server;
  private final Path kubeconfig;

  public Terminal(Path folder) throws IOException {
    server = ApiServer.start(0, (namespace, pod) -> folder.resolve(pod + ".log"));
    for (String resource : Installation.crdResources()) {
      try (InputStream crd = Terminal.class.getClassLoader().getResourceAsStream(resource)) {
        server.define(Objects.requireNonNull(crd));
      }
    }
    kubeconfig = folder.resolve("kubeconfig");
    Files.writeString(
        kubeconfig, Kubeconfig.of(server.uri(), new byte[0], server.tokens().admin(), NO_OPERATOR));
  }

  /** Runs a command against the server. */
  public Result run(String command, String... arguments) {
    List<String> all = new ArrayList<>(List.of(command, "--kubeconfig", kubeconfig.toString()));
    all.addAll(List.of(arguments));
    return runPlain(all.toArray(String[]::new));
  }

  /** Sets a job's status as the operator would. */
  public void status(String job, String status) throws IOException {
    ResourceType type =
        new ResourceType("kastor.dev", "v1alpha1", "TrainingJob", "trainingjobs", true, true);
    ObjectNode body = Json.object();
    body.set("status", Json.YAML.readTree(status));
    server.resources().update(type, "default", job, body, Options.STATUS);
  }

  /** What a client needs to reach the server. */
  public Config config() throws IOException {
    return Config.fromKubeconfig(Files.readString(kubeconfig));
  }

  public static Result runPlain(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Kastor.run(out, err, arguments);
    return new Result(code, out.toString(), err.toString());
  }

  @Override
  public void close() {
    server.close();
  }

  /** What came of a command. */
  public record Result(int code, String out, String err) {}
}
