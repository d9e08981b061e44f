package dev.kastor.e2e.cluster;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;

/** Namespaces as a careful platform team makes them. */
public record Namespaces(KubernetesClient client) {
  private static final String SIZE = "10Gi";

  /** One in which pods must keep to the restricted Pod Security Standard. */
  public void restricted(String name) {
    make(name, "restricted");
  }

  /** One in which pods may do what images of users often do, such as run as any user. */
  public void baseline(String name) {
    make(name, "baseline");
  }

  private void make(String name, String standard) {
    client
        .namespaces()
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(
                    Map.of(
                        "pod-security.kubernetes.io/enforce",
                        standard,
                        "pod-security.kubernetes.io/enforce-version",
                        "latest"))
                .endMetadata()
                .build())
        .create();
  }

  /** A claim on storage that all nodes share; {@code e2e/inside} has made the folder behind it. */
  public void shared(String namespace, String claim) {
    Map<String, Quantity> size = Map.of("storage", new Quantity(SIZE));
    String volume = namespace + "-" + claim;
    client
        .persistentVolumes()
        .resource(
            new PersistentVolumeBuilder()
                .withNewMetadata()
                .withName(volume)
                .endMetadata()
                .withNewSpec()
                .withCapacity(size)
                .withAccessModes("ReadWriteMany")
                .withStorageClassName("")
                .withNewHostPath()
                .withPath(System.getenv("KASTOR_E2E_CHECKPOINTS"))
                .withType("Directory")
                .endHostPath()
                .endSpec()
                .build())
        .create();
    client
        .persistentVolumeClaims()
        .inNamespace(namespace)
        .resource(
            new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(claim)
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteMany")
                .withStorageClassName("")
                .withVolumeName(volume)
                .withNewResources()
                .withRequests(size)
                .endResources()
                .endSpec()
                .build())
        .create();
  }
}
