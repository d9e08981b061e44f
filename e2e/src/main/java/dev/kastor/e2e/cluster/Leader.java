package dev.kastor.e2e.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The operator that answers agents, asked as an agent asks it, at the address of its Service.
 *
 * @param namespace of the operators
 */
public record Leader(KubernetesClient client, String namespace) {
  /** What it says to one who has no token begins so; operators that stand by say 503. */
  private static final String REFUSED = "4";

  private static final String SERVICE = "kastor-kastor";

  /** Whether there is one. */
  public boolean answers() throws IOException, InterruptedException {
    String address =
        client.services().inNamespace(namespace).withName(SERVICE).get().getSpec().getClusterIP();
    Process process =
        new ProcessBuilder(
                "curl",
                "--insecure",
                "--silent",
                "--max-time",
                "1",
                "--output",
                "/dev/null",
                "--write-out",
                "%{http_code}",
                "https://%s:8443/v1/jobs/none/none/membership".formatted(address))
            .start();
    try (var out = process.getInputStream()) {
      String said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return said.startsWith(REFUSED);
    }
  }
}
