package dev.kastor.crds.profile;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the platform team adds to pods; what is absent stays as it is. */
public record ProfileSpec(
    @JsonPropertyDescription("Image of the agent for jobs that run a program.") @Size(max = 1024)
        @Nullable String image,
    @JsonPropertyDescription("Variables for every container; the job's own come first.")
        @Size(max = 128)
        @Nullable List<EnvVar> env,
    @JsonPropertyDescription(
            "Labels of the nodes that pods may be put on. All or none of the nodes of one GPU type"
                + " must have them.")
        @Size(max = 16)
        @Nullable Map<String, String> nodeSelector,
    @JsonPropertyDescription("Taints of nodes that pods are put on nonetheless.") @Size(max = 32)
        @Nullable List<Toleration> tolerations,
    @JsonPropertyDescription("Volumes, as in a pod.") @Size(max = 64)
        @Nullable List<Map<String, Object>> volumes,
    @JsonPropertyDescription("Where every container sees the volumes.") @Size(max = 64)
        @Nullable List<Map<String, Object>> volumeMounts,
    @JsonPropertyDescription("What each replica asks for besides its GPU.")
        @Nullable Resources resources,
    @JsonPropertyDescription("Where programs keep checkpoints, instead of the operator's setting.")
        @Nullable Checkpoints checkpoints,
    @JsonPropertyDescription("Labels for the pods.") @Size(max = 32)
        @Nullable Map<String, String> podLabels,
    @JsonPropertyDescription("Annotations for the pods.") @Size(max = 32)
        @Nullable Map<String, String> podAnnotations,
    @JsonPropertyDescription("Runtime class of the pods.") @Size(max = 253)
        @Nullable String runtimeClassName,
    @JsonPropertyDescription("Secrets of the job's namespace to pull images with.") @Size(max = 16)
        @Nullable List<LocalObjectReference> imagePullSecrets,
    @JsonPropertyDescription("Service account of agents, instead of the operator's setting.")
        @Pattern("^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")
        @Size(max = 253)
        @Nullable String serviceAccountName,
    @JsonPropertyDescription("Namespaces whose jobs may use it; all without it.")
        @Size(min = 1, max = 1000)
        @Nullable List<String> namespaces) {
  /** Nothing to add. */
  public static final ProfileSpec NONE =
      new ProfileSpec(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null);

  /** Whether jobs of a namespace may use it. */
  public boolean isFor(String namespace) {
    return namespaces == null || namespaces.isEmpty() || namespaces.contains(namespace);
  }

  /** Requests that become limits too, so that replicas of one job are alike. */
  public record Resources(
      @JsonPropertyDescription("Processor cores of a replica.") @Nullable Quantity cpu,
      @JsonPropertyDescription("Memory of a replica.") @Nullable Quantity memory) {}

  /** One of the two places. */
  @ValidationRule(
      value = "has(self.claim) != has(self.hostPath)",
      message = "checkpoints need exactly one of claim and hostPath")
  public record Checkpoints(
      @JsonPropertyDescription("PersistentVolumeClaim in the job's namespace.") @Size(max = 253)
          @Nullable String claim,
      @JsonPropertyDescription("Folder that all nodes share.") @Pattern("^/.*") @Size(max = 1024)
          @Nullable String hostPath) {}
}
