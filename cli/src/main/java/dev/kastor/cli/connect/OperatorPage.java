package dev.kastor.cli.connect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Knowledge of the operator beyond the resources, asked over its plain HTTP port: in local mode at
 * the address in the kubeconfig, on a cluster through a port that the API server forwards, with a
 * token by which the operator knows whose jobs to show.
 */
public final class OperatorPage implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int PORT = 8080;
  private static final int OK = 200;
  private static final int REFUSED = 400;
  private static final int UNKNOWN_USER = 401;
  private static final int NOT_FOUND = 404;

  private final URI base;
  private final @Nullable LocalPortForward forward;
  private final OperatorToken token;
  // An offer of HTTP/2 in the clear is sometimes answered with the end of the connection.
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();

  private OperatorPage(URI base, @Nullable LocalPortForward forward, OperatorToken token) {
    this.token = token;
    this.base = base;
    this.forward = forward;
  }

  /** Finds the operator; whether it answers shows with the first request. */
  public static OperatorPage open(Cluster cluster, ClusterOptions options) throws OperatorAway {
    URI known = options.operator();
    if (known != null) {
      return new OperatorPage(known, null, OperatorToken.at(known, cluster, options));
    }
    Pod pod;
    try {
      pod = OperatorPods.leader(cluster);
    } catch (KubernetesClientException e) {
      throw new OperatorAway("the operator's pods cannot be listed: " + e.getMessage(), e);
    }
    if (pod == null) {
      throw new OperatorAway(
          "no ready pod labelled app.kubernetes.io/name=kastor is to be seen. Ask for the right to"
              + " list pods in the operator's namespace, or name its address with --operator URL",
          null);
    }
    var meta = pod.getMetadata();
    try {
      LocalPortForward forward =
          cluster
              .client()
              .pods()
              .inNamespace(meta.getNamespace())
              .withName(meta.getName())
              .portForward(PORT);
      return new OperatorPage(
          URI.create("http://127.0.0.1:" + forward.getLocalPort()),
          forward,
          OperatorToken.forPod(pod, cluster, options));
    } catch (KubernetesClientException e) {
      throw new OperatorAway(
          "no port can be forwarded to pod %s/%s: %s"
              .formatted(meta.getNamespace(), meta.getName(), e.getMessage()),
          e);
    }
  }

  /** The JSON at a path such as {@code /api/v1/queues}; empty if there is no such thing. */
  public Optional<JsonNode> json(String path) throws OperatorAway {
    HttpResponse<String> answer = ask(get(path));
    return answer.statusCode() == NOT_FOUND
        ? Optional.empty()
        : Optional.of(tree(path, good(path, answer)));
  }

  /**
   * The JSON that a path answers to a document.
   *
   * @throws CliException if the operator refuses the document
   */
  public JsonNode json(String path, String document) throws OperatorAway {
    HttpResponse<String> answer =
        ask(
            request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(document)));
    if (answer.statusCode() == REFUSED) {
      throw new CliException(ExitCode.USAGE, tree(path, answer.body()).path("error").asText());
    }
    return tree(path, good(path, answer));
  }

  private JsonNode tree(String path, String body) throws OperatorAway {
    try {
      return new ObjectMapper().readTree(body);
    } catch (IOException e) {
      throw new OperatorAway("%s%s answers no JSON".formatted(base, path), e);
    }
  }

  /** The text at a path. */
  public String text(String path) throws OperatorAway {
    return good(path, ask(get(path)));
  }

  private String good(String path, HttpResponse<String> answer) throws OperatorAway {
    if (answer.statusCode() != OK) {
      throw new OperatorAway(
          "%s%s answers %d: %s".formatted(base, path, answer.statusCode(), answer.body().strip()),
          null);
    }
    return answer.body();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(base.resolve(path)).timeout(PATIENCE);
  }

  private HttpRequest.Builder get(String path) {
    return request(path).GET();
  }

  private HttpResponse<String> ask(HttpRequest.Builder request) throws OperatorAway {
    try {
      HttpResponse<String> answer = send(request);
      // A token is shown to those only who ask for one.
      return answer.statusCode() == UNKNOWN_USER
          ? send(request.header("Authorization", "Bearer " + token.get()))
          : answer;
    } catch (IOException e) {
      throw new OperatorAway(
          "the operator does not answer at %s. Is it running? See: kastor doctor".formatted(base),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new OperatorAway("interrupted", e);
    }
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Override
  public void close() {
    http.close();
    try {
      if (forward != null) {
        forward.close();
      }
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "the forwarded port cannot be closed", e);
    }
  }
}
