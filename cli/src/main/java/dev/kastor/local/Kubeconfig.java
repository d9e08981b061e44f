package dev.kastor.local;

import java.net.URI;

/** The kubeconfig of the embedded server. */
public final class Kubeconfig {
  private Kubeconfig() {}

  /** The file that reaches {@code server} as the owner of {@code token}. */
  public static String of(URI server, String token) {
    return """
    apiVersion: v1
    kind: Config
    clusters:
    - name: kastor-local
      cluster: {server: "%s"}
    users:
    - name: kastor-local
      user: {token: "%s"}
    contexts:
    - name: kastor-local
      context: {cluster: kastor-local, user: kastor-local, namespace: default}
    current-context: kastor-local
    """
        .formatted(server, token);
  }
}
