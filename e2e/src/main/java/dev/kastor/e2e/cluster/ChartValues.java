package dev.kastor.e2e.cluster;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Settings of the chart that platform teams choose, good ones and bad ones. */
public final class ChartValues {
  private static final String PREFERRED =
      "nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";

  private ChartValues() {}

  /** Sets of values that must render, by what they stand for. */
  public static SequencedMap<String, List<String>> good(String jobNamespace) {
    SequencedMap<String, List<String>> sets = new LinkedHashMap<>();
    sets.put("as it comes", List.of());
    sets.put("one operator", List.of("replicas=1", "leaderElection.enabled=false"));
    sets.put("own certificate", List.of("tls.secretName=given", "networkPolicy.enabled=false"));
    sets.put(
        "cert-manager",
        List.of(
            "tls.certManager.enabled=true",
            "tls.certManager.issuerRef.name=cluster-ca",
            "tls.certManager.issuerRef.kind=ClusterIssuer"));
    sets.put(
        "observed",
        List.of(
            "metrics.serviceMonitor.enabled=true",
            "metrics.serviceMonitor.labels.release=prometheus",
            "metrics.prometheusRule.enabled=true",
            "metrics.prometheusRule.labels.release=prometheus",
            "metrics.prometheusRule.runbookUrl=https://docs.example/operations.html",
            "metrics.dashboards.enabled=true",
            "metrics.dashboards.annotations.folder=Kastor",
            "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=monitoring"));
    sets.put(
        "closed in",
        List.of(
            "networkPolicy.jobNamespaces={" + jobNamespace + "}",
            "networkPolicy.jobEgress[0].to[0].ipBlock.cidr=192.0.2.0/24",
            "networkPolicy.apiServerPorts={443}"));
    sets.put(
        "placed",
        List.of(
            "nodeSelector.pool=system",
            "tolerations[0].key=system",
            "tolerations[0].operator=Exists",
            "priorityClassName=system-cluster-critical",
            "affinity." + PREFERRED + "[0].weight=10",
            "affinity." + PREFERRED + "[0].preference.matchExpressions[0].key=spot",
            "affinity." + PREFERRED + "[0].preference.matchExpressions[0].operator=DoesNotExist",
            "topologySpreadConstraints[0].maxSkew=1",
            "topologySpreadConstraints[0].topologyKey=topology.kubernetes.io/zone",
            "topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway"));
    sets.put(
        "a private registry",
        List.of(
            "image.operator=registry.example/kastor/operator:1",
            "image.pullSecrets[0].name=registry",
            "agents.imagePullSecrets={registry}",
            "agents.serviceAccount=trains",
            "agents.threads=4",
            "gpuTypeLabel=nvidia.com/gpu.product"));
    sets.put("a mirror", List.of("image.registry=registry.example:5000/mirror"));
    sets.put(
        "the customs of a platform",
        List.of(
            "fullnameOverride=trainings",
            "podLabels.team=platform",
            "podAnnotations.sidecar\\.istio\\.io/inject=no",
            "serviceAccount.annotations.owner=platform",
            "log.level=DEBUG",
            "log.format=json",
            "extraEnv[0].name=HTTPS_PROXY",
            "extraEnv[0].value=http://proxy:3128"));
    sets.put(
        "a page behind an Ingress",
        List.of(
            "web.ingress.enabled=true",
            "web.ingress.host=kastor.example",
            "web.ingress.className=nginx",
            "web.ingress.tlsSecretName=page",
            "web.ingress.from[0].namespaceSelector.matchLabels.team=ingress"));
    // What --reuse-values leaves of the values of a release that had none of these.
    sets.put(
        "values of an older release",
        List.of(
            "agents=null",
            "log=null",
            "serviceAccount=null",
            "web.ingress=null",
            "gpuTypeLabel=null"));
    sets.put("tenants by the cluster's own roles", List.of("tenants.aggregate=true"));
    sets.put(
        "one namespace, pins by the platform team alone",
        List.of(
            "jobNamespaces={" + jobNamespace + "}",
            "admission.ownersMaySet=null",
            "admission.exemptGroups={platform}",
            "maxPriority=0"));
    sets.put("without admission", List.of("admission.enabled=false"));
    sets.put(
        "scheduling",
        List.of(
            "policy.name=kastor",
            "policy.options.jobHourValue=20",
            "policy.options.interruptionsPerDay=0",
            "plugins.volume.persistentVolumeClaim.claimName=plugins",
            "roundInterval=5s",
            "summaryInterval=1m",
            "queues=research=3\\,night=0.5",
            "nodeAdvice=0.55:0.75:1-16",
            "slotResource=amd.com/gpu",
            "checkpoints.hostPath=/data/checkpoints"));
    return sets;
  }

  /** Values that must be refused, and the word of the refusal that says where the mistake is. */
  public static Map<String, String> bad() {
    return Map.ofEntries(
        Map.entry("repliccas=2", "repliccas"),
        Map.entry("image.pullPolicy=Sometimes", "pullPolicy"),
        Map.entry("roundInterval=soon", "roundInterval"),
        Map.entry("policy=fifo", "policy"),
        Map.entry("policy.name=kastro", "policy.name"),
        Map.entry("policy.options.hold=1:2", "hold"),
        Map.entry("policy.options.jobHourValue=abc", "jobHourValue"),
        Map.entry("policy.options.interruptionsPerDay=-1", "interruptionsPerDay"),
        Map.entry("nodeAdvice=foo", "nodeAdvice"),
        Map.entry("leaderElection.leaseDuration=3s", "leaderElection.leaseDuration"),
        Map.entry("checkpoints.claim=a,checkpoints.hostPath=/b", "checkpoints"),
        Map.entry("slotResource=gpu", "slotResource"),
        Map.entry("checkpoints.hostPath=data", "hostPath"),
        Map.entry("tls.certManager.enabled=true", "issuerRef"),
        Map.entry("tls.certManager.renewBefore=a month", "renewBefore"),
        Map.entry("tenants.aggregate=yes", "aggregate"),
        Map.entry("jobNamespaces={Team_A}", "jobNamespaces"),
        Map.entry("admission.ownersMaySet={pinned}", "ownersMaySet"),
        Map.entry("maxPriority=high", "maxPriority"),
        Map.entry("networkPolicy.jobNamespaces={Team_A}", "jobNamespaces"),
        Map.entry("networkPolicy.apiServerPorts={99999}", "apiServerPorts"),
        Map.entry("metrics.serviceMonitor.enabled=true", "networkPolicy.metricsFrom"),
        Map.entry("metrics.dashboards.enabled=yes please", "dashboards"),
        Map.entry("image.pullSecrets={registry}", "pullSecrets"),
        Map.entry("image.registry=https://registry.example", "registry"),
        Map.entry("agents.threads=0", "threads"),
        Map.entry("gpuTypeLabel=a b", "gpuTypeLabel"),
        Map.entry("fullnameOverride=Kastor", "fullnameOverride"),
        Map.entry("log.format=xml", "format"),
        Map.entry("extraEnv[0].value=1", "extraEnv"),
        Map.entry("web.ingress.enabled=true", "host"),
        Map.entry("web.ingress.enabled=true,web.ingress.host=a.example", "web.ingress.from"),
        Map.entry(
            "web.ingress.enabled=true,web.ingress.host=a.example,web.authorize=false",
            "web.authorize"),
        Map.entry("leaderElection.enabled=false", "leaderElection.enabled"));
  }
}
