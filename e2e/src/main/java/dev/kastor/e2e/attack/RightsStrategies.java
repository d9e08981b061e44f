package dev.kastor.e2e.attack;

import static dev.kastor.e2e.attack.Strategy.Aim.ACCESS;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;

/** Requests to the API server that a tenant has no right to. */
final class RightsStrategies {
  private RightsStrategies() {}

  static List<Strategy> all() {
    return List.of(
        new Strategy("a status that the tenant writes himself", ACCESS, RightsStrategies::status),
        new Strategy("reading in other namespaces", ACCESS, RightsStrategies::reads),
        new Strategy("writing in other namespaces", ACCESS, RightsStrategies::writes));
  }

  private static void status(Hostile hostile) {
    hostile.make(Shapes.gang("greedy", Lab.HOSTILE_QUEUE, 0, 8));
    for (String status :
        List.of(
            "{\"allocation\": {\"nodes\": {\"%s\": 8}, \"replicas\": 8}}"
                .formatted(hostile.nodes().getFirst()),
            "{\"startTime\": \"yesterday\"}",
            "{\"nextPod\": 9223372036854775807}")) {
      hostile.refused(
          "status " + status,
          () ->
              hostile
                  .client()
                  .resources(TrainingJob.class)
                  .inNamespace(Lab.HOSTILE)
                  .withName("greedy")
                  .subresource("status")
                  .patch(
                      PatchContext.of(PatchType.JSON_MERGE), "{\"status\": %s}".formatted(status)));
    }
  }

  private static void reads(Hostile hostile) {
    KubernetesClient client = hostile.client();
    for (String namespace : List.of(Lab.HONEST, Lab.SYSTEM)) {
      hostile.refused(
          "reading jobs of " + namespace,
          () -> client.resources(TrainingJob.class).inNamespace(namespace).list());
      hostile.refused(
          "reading pods of " + namespace, () -> client.pods().inNamespace(namespace).list());
      hostile.refused(
          "reading secrets of " + namespace, () -> client.secrets().inNamespace(namespace).list());
      hostile.refused(
          "reading settings of " + namespace,
          () -> client.configMaps().inNamespace(namespace).list());
      hostile.refused(
          "reading services of " + namespace,
          () -> client.services().inNamespace(namespace).list());
      hostile.refused(
          "reading events of " + namespace,
          () -> client.v1().events().inNamespace(namespace).list());
    }
    hostile.refused(
        "reading all jobs", () -> client.resources(TrainingJob.class).inAnyNamespace().list());
    hostile.refused("reading all secrets", () -> client.secrets().inAnyNamespace().list());
  }

  private static void writes(Hostile hostile) {
    KubernetesClient client = hostile.client();
    hostile.refused(
        "a job in another namespace",
        () ->
            client
                .resources(TrainingJob.class)
                .inNamespace(Lab.HONEST)
                .resource(Shapes.gang("guest", Lab.HONEST_QUEUE, 0, 1))
                .create());
    hostile.refused(
        "deleting jobs of another",
        () ->
            client
                .resources(TrainingJob.class)
                .inNamespace(Lab.HONEST)
                .withName(Honest.TRAINS)
                .delete());
    hostile.refused(
        "deleting pods of another",
        () -> client.pods().inNamespace(Lab.HONEST).withName(Honest.TRAINS + "-0").delete());
    hostile.refused(
        "a queue",
        () ->
            client
                .resource(
                    """
                    apiVersion: kastor.dev/v1alpha1
                    kind: Queue
                    metadata: {name: mine}
                    spec: {quota: {gpus: 1000}}
                    """)
                .create());
    hostile.refused(
        "the operator's lease",
        () -> client.leases().inNamespace(Lab.SYSTEM).withName("kastor-kastor").delete());
    hostile.refused(
        "a token of the operator",
        () ->
            new dev.kastor.e2e.cluster.Credentials(client).ofAccount(Lab.SYSTEM, "kastor-kastor"));
  }
}
