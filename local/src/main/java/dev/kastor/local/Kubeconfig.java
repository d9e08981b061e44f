package dev.kastor.local;

import java.net.URI;
import java.util.Base64;

/** The kubeconfig of the embedded server. */
public final class Kubeconfig {
  /** Name of the cluster's extension that says where the operator's page is. */
  public static final String EXTENSION = "kastor.dev";

  private Kubeconfig() {}

  /**
   * The file that reaches {@code server} as the owner of {@code token}.
   *
   * @param authority PEM of the authority that signed the server's certificate; empty for plain
   *     HTTP
   * @param operator where the operator's page is
   */
  public static String of(URI server, byte[] authority, String token, URI operator) {
    return """
    apiVersion: v1
    kind: Config
    clusters:
    - name: kastor-local
      cluster:
        server: "%s"
        certificate-authority-data: %s
        extensions:
        - name: %s
          extension: {operator: "%s"}
    users:
    - name: kastor-local
      user: {token: "%s"}
    contexts:
    - name: kastor-local
      context: {cluster: kastor-local, user: kastor-local, namespace: default}
    current-context: kastor-local
    """
        .formatted(
            server, Base64.getEncoder().encodeToString(authority), EXTENSION, operator, token);
  }
}
