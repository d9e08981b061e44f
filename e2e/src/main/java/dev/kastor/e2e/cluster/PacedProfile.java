package dev.kastor.e2e.cluster;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Profile whose replicas keep the pace of an accelerator. Replicas that share the cores of the
 * machine gain nothing from each other, so that a policy rightly gives their job no more of them.
 */
public final class PacedProfile {
  private static final Path PACES = Chart.root().resolve("traces/profiles/paced.csv");

  private PacedProfile() {}

  /**
   * Makes that of a program for a namespace.
   *
   * @return its name
   * @throws IOException if the paces cannot be read
   */
  public static String make(KubernetesClient client, String program, String namespace)
      throws IOException {
    String[] figures =
        Files.readAllLines(PACES).stream()
            .filter(line -> line.startsWith(program + ","))
            .findFirst()
            .orElseThrow()
            .split(",", -1);
    String name = "paced-" + program;
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: kastor.dev/v1alpha1
                kind: ClusterTrainingProfile
                metadata: {name: %s}
                spec:
                  namespaces: [%s]
                  env: [{name: KASTOR_PACE, value: "%s %s"}]
                """
                    .formatted(name, namespace, figures[2], figures[3]),
                ClusterTrainingProfile.class))
        .create();
    return name;
  }
}
