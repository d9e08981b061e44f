package dev.kastor.cli.connect;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Says to the operator who asks: the token of {@code --operator-token}, else that of the
 * kubeconfig, else, for users who have none because they show a certificate to the API server, one
 * that they make for the service account {@code <operator>-viewer}.
 *
 * <p>The API server's own proxy is no way around: it takes the user's identity off the request.
 */
final class OperatorToken {
  private static final String AUDIENCE = "kastor";
  private static final long LIFETIME_SECONDS = 600;

  private final Cluster cluster;
  private final @Nullable Path file;
  private final @Nullable Pod operator;
  private final @Nullable URI unsafe;

  private OperatorToken(
      Cluster cluster, @Nullable Path file, @Nullable Pod operator, @Nullable URI unsafe) {
    this.cluster = cluster;
    this.file = file;
    this.operator = operator;
    this.unsafe = unsafe;
  }

  /** For an operator behind a port that the API server forwards. */
  static OperatorToken forPod(Pod operator, Cluster cluster, ClusterOptions options) {
    return new OperatorToken(cluster, options.operatorToken(), operator, null);
  }

  /** For an operator at an address. */
  static OperatorToken at(URI address, Cluster cluster, ClusterOptions options) {
    boolean safe =
        "https".equals(address.getScheme())
            || "localhost".equals(address.getHost())
            || String.valueOf(address.getHost()).startsWith("127.");
    return new OperatorToken(cluster, options.operatorToken(), null, safe ? null : address);
  }

  /**
   * The token.
   *
   * @throws OperatorAway if there is none, or if it would travel in the clear
   */
  String get() throws OperatorAway {
    if (unsafe != null) {
      throw new OperatorAway(
          "%s asks for a token, which must not travel in the clear. Name an https address, or leave"
                  .formatted(unsafe)
              + " --operator out",
          null);
    }
    if (file != null) {
      return read(file);
    }
    Config config = cluster.client().getConfiguration();
    String own =
        config.getOauthToken() == null ? config.getAutoOAuthToken() : config.getOauthToken();
    if (own != null && !own.isBlank()) {
      return own;
    }
    if (operator == null) {
      throw new OperatorAway(
          "the operator asks who you are, and your kubeconfig has no token. Name a file with one:"
              + " --operator-token FILE",
          null);
    }
    return ofViewer(operator);
  }

  private static String read(Path file) throws OperatorAway {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new OperatorAway("the token in %s cannot be read".formatted(file), e);
    }
  }

  private String ofViewer(Pod pod) throws OperatorAway {
    ObjectMeta meta = pod.getMetadata();
    String account = pod.getSpec().getServiceAccountName() + "-viewer";
    try {
      TokenRequest made =
          cluster
              .client()
              .serviceAccounts()
              .inNamespace(meta.getNamespace())
              .withName(account)
              .tokenRequest(
                  new TokenRequestBuilder()
                      .withNewSpec()
                      .withAudiences(AUDIENCE)
                      .withExpirationSeconds(LIFETIME_SECONDS)
                      .endSpec()
                      .build());
      return made.getStatus().getToken();
    } catch (KubernetesClientException e) {
      throw new OperatorAway(
          ("your kubeconfig has no token, and you may not make one for service account %s/%s: %s. Make"
                  + " one for an account that may list your TrainingJobs (kubectl create token ACCOUNT"
                  + " --audience kastor > FILE) and name it: --operator-token FILE")
              .formatted(meta.getNamespace(), account, e.getMessage()),
          e);
    }
  }
}
