package dev.kastor.e2e.attack;

import static dev.kastor.e2e.attack.Strategy.Aim.GPUS;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;

/** Pods that say that they are what they are not. None of them ever runs on a GPU. */
final class PodStrategies {
  private static final String NODE = "kastor.dev/node";
  private static final String JOB = "kastor.dev/job";
  private static final String MANAGED_BY = "app.kubernetes.io/managed-by";
  private static final String MANY = "100";
  private static final int CHURN = 60;

  private PodStrategies() {}

  static List<Strategy> all() {
    return List.of(
        new Strategy(
            "pending pods that say that they are meant for a node",
            GPUS,
            hostile ->
                hostile
                    .nodes()
                    .forEach(node -> hostile.make(pending("on-" + node, node, container(MANY))))),
        new Strategy(
            "requests whose sum is below zero",
            GPUS,
            hostile ->
                hostile
                    .nodes()
                    .forEach(node ->
                        hostile.make(
                            pending(
                                "sum-" + node,
                                node,
                                container("2147483647"),
                                container("2147483600"))))),
        new Strategy(
            "requests of init containers and sidecars", GPUS, PodStrategies::initContainers),
        new Strategy(
            "pods that a suspended job of the tenant seems to own", GPUS, PodStrategies::ofOwnJob),
        new Strategy(
            "pods that a job of another tenant seems to own", GPUS, PodStrategies::ofOthersJob),
        new Strategy(
            "pods with the names of a job's next replicas", GPUS, PodStrategies::nextReplicas),
        new Strategy("pods with Kastor's labels and no owner", GPUS, PodStrategies::orphans),
        new Strategy(
            "pods bound by hand to nodes that have no room for them",
            GPUS,
            PodStrategies::boundByHand),
        new Strategy(
            "replicas whose annotations their tenant rewrites", GPUS, PodStrategies::rewritten),
        new Strategy("sixty pods that come and go", GPUS, PodStrategies::churn));
  }

  private static void initContainers(Hostile hostile) {
    for (String node : hostile.nodes()) {
      Pod pod = pending("init-" + node, node, container("0"));
      Container sidecar = container(MANY);
      sidecar.setName("sidecar");
      sidecar.setRestartPolicy("Always");
      Container init = container(MANY);
      init.setName("init");
      pod.getSpec().setInitContainers(List.of(sidecar, init));
      hostile.make(pod);
    }
  }

  private static void ofOwnJob(Hostile hostile) {
    TrainingJob job = Shapes.gang("sleeper", Lab.HOSTILE_QUEUE, 0, 2);
    String uid =
        hostile
            .make(Shapes.with(job, "/spec", Map.of("suspend", true)))
            .orElseThrow()
            .getMetadata()
            .getUid();
    int number = 0;
    for (String node : hostile.nodes()) {
      hostile.make(owned(pending("sleeper-" + number++, node, container(MANY)), "sleeper", uid));
    }
  }

  private static void ofOthersJob(Hostile hostile) {
    int number = 0;
    for (String node : hostile.nodes()) {
      hostile.make(
          owned(
              pending(Honest.TRAINS + "-" + number++, node, container(MANY)),
              Honest.TRAINS,
              hostile.victim().uid()));
    }
  }

  private static void nextReplicas(Hostile hostile) throws Exception {
    TrainingJob job = hostile.make(Shapes.gang("mine", Lab.HOSTILE_QUEUE, 0, 1)).orElseThrow();
    hostile.untilHeld("mine", 1);
    List<String> nodes = hostile.nodes();
    for (int number = 0; number < 8; number++) {
      String node = nodes.get(number % nodes.size());
      hostile.make(
          owned(
              pending("mine-" + number, node, container(MANY)),
              "mine",
              job.getMetadata().getUid()));
      // A label names a job of this namespace, where the other tenant has none.
      hostile.make(
          labelled(pending("claims-" + number, node, container(MANY)), "payroll-claims-1"));
    }
  }

  private static void orphans(Hostile hostile) {
    int number = 0;
    for (String node : hostile.nodes()) {
      hostile.keeps(labelled(pending("orphan-" + number++, node, container(MANY)), "nobody"));
    }
  }

  private static void boundByHand(Hostile hostile) {
    for (String node : hostile.nodes()) {
      Pod pod = pending("bound-" + node, node, container(MANY));
      pod.getSpec().setSchedulingGates(List.of());
      pod.getSpec().setNodeName(node);
      hostile.make(pod);
    }
  }

  private static void rewritten(Hostile hostile) throws Exception {
    hostile.make(Shapes.gang("liquid", Lab.HOSTILE_QUEUE, 0, 2));
    hostile.untilHeld("liquid", 2);
    List<String> nodes = hostile.nodes();
    for (Pod pod : hostile.jobs().pods("liquid")) {
      int other = (nodes.indexOf(pod.getSpec().getNodeName()) + 1) % nodes.size();
      String marks =
          """
          {"metadata": {"annotations": {"kastor.dev/node": "%s", "kastor.dev/gang-first": "0",
                                        "kastor.dev/gang-size": "2147483647"}}}
          """
              .formatted(nodes.get(other));
      Hostile.tries(() ->
          hostile
              .client()
              .pods()
              .inNamespace(Lab.HOSTILE)
              .withName(pod.getMetadata().getName())
              .patch(PatchContext.of(PatchType.JSON_MERGE), marks));
    }
  }

  private static void churn(Hostile hostile) {
    List<String> nodes = hostile.nodes();
    for (int number = 0; number < CHURN; number++) {
      hostile.make(pending("churn-" + number, nodes.get(number % nodes.size()), container(MANY)));
      if (number % 2 == 0) {
        hostile
            .client()
            .pods()
            .inNamespace(Lab.HOSTILE)
            .withName("churn-" + number)
            .withGracePeriod(0)
            .delete();
      }
    }
  }

  /** A pod that is never scheduled and says that it is meant for a node. */
  private static Pod pending(String name, String node, Container... containers) {
    for (int i = 0; i < containers.length; i++) {
      containers[i].setName("c" + i);
    }
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(Lab.HOSTILE)
        .withAnnotations(Map.of(NODE, node))
        .endMetadata()
        .withNewSpec()
        .withSchedulingGates(new PodSchedulingGate("example.com/never"))
        .withTerminationGracePeriodSeconds(1L)
        .withAutomountServiceAccountToken(false)
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(65532L)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withContainers(containers)
        .endSpec()
        .build();
  }

  private static Container container(String gpus) {
    return new ContainerBuilder()
        .withName("c")
        .withImage("kastor.dev/e2e/pause:1")
        .withImagePullPolicy("IfNotPresent")
        .withNewResources()
        .withLimits(Map.of(Pods.GPU, new Quantity(gpus)))
        .endResources()
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .build();
  }

  private static Pod labelled(Pod pod, String job) {
    pod.getMetadata().setLabels(Map.of(JOB, job, MANAGED_BY, "kastor"));
    return pod;
  }

  private static Pod owned(Pod pod, String job, String uid) {
    pod.getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion("kastor.dev/v1alpha1")
                    .withKind("TrainingJob")
                    .withName(job)
                    .withUid(uid)
                    .withController(true)
                    .build()));
    return labelled(pod, job);
  }
}
