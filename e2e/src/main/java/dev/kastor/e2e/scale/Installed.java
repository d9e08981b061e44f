package dev.kastor.e2e.scale;

import dev.kastor.e2e.cluster.Chart;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * All of the chart but its pods: definitions, identity and rights are the chart's own, and the
 * operator's settings are read from its Deployment.
 */
final class Installed {
  static final String NAMESPACE = "kastor-system";
  private static final String ACCOUNT = "kastor-kastor";
  private static final long DAY_SECONDS = 86_400;
  private static final Set<String> KINDS =
      Set.of(
          "CustomResourceDefinition",
          "ServiceAccount",
          "ClusterRole",
          "ClusterRoleBinding",
          "Role",
          "RoleBinding",
          "ConfigMap",
          "FlowSchema",
          "Lease");

  private final KubernetesClient client;
  private final List<HasMetadata> objects;

  /** Makes the objects, or leaves those that an earlier scenario made. */
  Installed(KubernetesClient client, String... values) throws Exception {
    this.client = client;
    client
        .namespaces()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .createOr(NonDeletingOperation::update);
    String yaml = new Chart(NAMESPACE, values).render();
    objects = client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items();
    for (HasMetadata object : objects) {
      if (KINDS.contains(object.getKind())) {
        client.resource(object).inNamespace(NAMESPACE).createOr(NonDeletingOperation::update);
      }
    }
  }

  /** What the chart sets in the operator's environment. */
  Map<String, String> environment() {
    Map<String, String> environment = new TreeMap<>();
    for (HasMetadata object : objects) {
      if (object instanceof Deployment deployment) {
        for (EnvVar variable :
            deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getEnv()) {
          if (!isOfPod(variable)) {
            environment.put(
                variable.getName(), variable.getValue() == null ? "" : variable.getValue());
          }
        }
      }
    }
    return environment;
  }

  /** A token of the operator's own service account. */
  String token() {
    return client
        .serviceAccounts()
        .inNamespace(NAMESPACE)
        .withName(ACCOUNT)
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withExpirationSeconds(DAY_SECONDS)
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }

  /** What a pod is told about itself has no meaning beside the cluster. */
  private static boolean isOfPod(EnvVar variable) {
    return variable.getValueFrom() != null;
  }
}
