package dev.kastor.e2e.attack;

import dev.kastor.crds.queue.Queue;
import dev.kastor.e2e.cluster.Namespaces;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;

/**
 * Quotas that a platform team grants to two tenants who share eight GPUs: four are the honest
 * one's, two the hostile one's, and two go by priority; each may borrow what is unused.
 */
record Lab(KubernetesClient client, Namespaces namespaces) {
  static final String SYSTEM = "attack-system";
  static final String HONEST = "attack-payroll";
  static final String HOSTILE = "attack-raid";

  /** Service account of the hostile tenant. */
  static final String ACCOUNT = "tenant";

  static final String HONEST_QUEUE = "finance";
  static final String HOSTILE_QUEUE = "raid";
  static final String SHARED_QUEUE = "common";

  /** Profile with an image that does nothing, so that agents can be played. */
  static final String PLAYED = "played";

  /** Profile that is not for the hostile tenant. */
  static final String FOREIGN = "finance-only";

  private static final List<String> CLUSTER_WIDE =
      List.of(
          """
          apiVersion: kastor.dev/v1alpha1
          kind: Queue
          metadata: {name: finance}
          spec: {cohort: attacked, quota: {gpus: 4}, namespaces: [attack-payroll]}
          """,
          """
          apiVersion: kastor.dev/v1alpha1
          kind: Queue
          metadata: {name: raid}
          spec: {cohort: attacked, quota: {gpus: 2}, namespaces: [attack-raid]}
          """,
          """
          apiVersion: kastor.dev/v1alpha1
          kind: Queue
          metadata: {name: common}
          spec: {cohort: attacked, quota: {gpus: 2}}
          """,
          """
          apiVersion: kastor.dev/v1alpha1
          kind: ClusterTrainingProfile
          metadata: {name: played}
          spec: {image: "kastor.dev/e2e/pause:1"}
          """,
          """
          apiVersion: kastor.dev/v1alpha1
          kind: ClusterTrainingProfile
          metadata: {name: finance-only}
          spec: {image: "kastor.dev/e2e/pause:1", namespaces: [attack-payroll]}
          """);

  /** Makes the namespaces and the account, before the chart is there. */
  void namespaced() {
    for (String namespace : List.of(SYSTEM, HONEST, HOSTILE)) {
      namespaces.restricted(namespace);
    }
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(ACCOUNT)
                .withNamespace(HOSTILE)
                .endMetadata()
                .build())
        .create();
    // All that a tenant usually may in his own namespace, and what Kastor adds for tenants.
    for (String role : List.of("edit", "kastor-kastor-tenant")) {
      client
          .resource(
              new RoleBindingBuilder()
                  .withNewMetadata()
                  .withName(role)
                  .withNamespace(HOSTILE)
                  .endMetadata()
                  .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
                  .addNewSubject(null, "ServiceAccount", ACCOUNT, HOSTILE)
                  .build())
          .create();
    }
  }

  /** Makes queues and profiles, once the chart has brought their definitions. */
  void clusterWide() {
    for (String yaml : CLUSTER_WIDE) {
      client.resource(yaml).create();
    }
  }

  /** Removes all of it. */
  void remove() {
    for (HasMetadata queue : client.resources(Queue.class).list().getItems()) {
      client.resource(queue).delete();
    }
    for (String namespace : List.of(HONEST, HOSTILE, SYSTEM)) {
      client.namespaces().withName(namespace).delete();
    }
  }
}
