package dev.kastor.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.net.URI;
import java.util.Base64;
import java.util.Optional;

/**
 * The kubeconfig of the embedded server.
 *
 * @param server address of the API server
 * @param authority PEM, in Base64, of the authority that signed the server's certificate; empty for
 *     plain HTTP
 * @param token of who owns the file
 * @param operator where the operator's page is
 */
public record Kubeconfig(URI server, String authority, String token, URI operator) {
  /** Name of the cluster's extension that says where the operator's page is. */
  public static final String EXTENSION = "kastor.dev";

  private static final String NAME = "kastor-local";

  /**
   * The file that reaches {@code server} as the owner of {@code token}.
   *
   * @param authority PEM of the authority that signed the server's certificate; empty for plain
   *     HTTP
   * @param operator where the operator's page is
   */
  public static String of(URI server, byte[] authority, String token, URI operator) {
    return new Kubeconfig(server, Base64.getEncoder().encodeToString(authority), token, operator)
        .text();
  }

  /** As JSON, which is YAML too, and read ten times as fast. */
  private String text() {
    ObjectNode config = Json.object().put("apiVersion", "v1").put("kind", "Config");
    ObjectNode cluster = config.putArray("clusters").addObject().put("name", NAME);
    cluster
        .putObject("cluster")
        .put("server", server.toString())
        .put("certificate-authority-data", authority)
        .putArray("extensions")
        .addObject()
        .put("name", EXTENSION)
        .putObject("extension")
        .put("operator", operator.toString());
    config.putArray("users").addObject().put("name", NAME).putObject("user").put("token", token);
    config
        .putArray("contexts")
        .addObject()
        .put("name", NAME)
        .putObject("context")
        .put("cluster", NAME)
        .put("user", NAME)
        .put("namespace", "default");
    return config.put("current-context", NAME).toPrettyString() + "\n";
  }

  /** What a file says that {@link #of} wrote and nobody changed; empty for any other. */
  public static Optional<Kubeconfig> read(String text) {
    if (!text.startsWith("{")) {
      return Optional.empty();
    }
    try {
      JsonNode config = Json.MAPPER.readTree(text);
      JsonNode cluster = config.at("/clusters/0/cluster");
      Kubeconfig read =
          new Kubeconfig(
              URI.create(cluster.path("server").asText()),
              cluster.path("certificate-authority-data").asText(),
              config.at("/users/0/user/token").asText(),
              URI.create(cluster.at("/extensions/0/extension/operator").asText()));
      return Optional.of(read).filter(own -> own.text().equals(text));
    } catch (JsonProcessingException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
