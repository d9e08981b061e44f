package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.model.annotation.SpecReplicas;
import org.jspecify.annotations.Nullable;

/** Bounds on the number of replicas, and the size of each. */
@ValidationRule(
    value =
        "self.allowedReplicas != 'PowersOfTwo' || [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,"
            + " 2048, 4096].exists(p, p >= self.minReplicas && p <= self.maxReplicas)",
    messageExpression =
        "'no power of two lies between minReplicas (%d) and maxReplicas (%d). Widen the bounds or"
            + " set allowedReplicas to Any.'.format([self.minReplicas, self.maxReplicas])")
@ValidationRule(
    value = "self.minReplicas <= self.maxReplicas",
    messageExpression =
        "'minReplicas (%d) is above maxReplicas (%d). Lower minReplicas or raise maxReplicas.'"
            + ".format([self.minReplicas, self.maxReplicas])")
public record ElasticSpec(
    @JsonPropertyDescription("Fewest replicas; with fewer the job waits.")
        @Min(1)
        @Max(4096)
        @Default("1")
        @Nullable Integer minReplicas,
    @JsonPropertyDescription("Most replicas.") @SpecReplicas @Min(1) @Max(4096) @Default("1")
        @Nullable Integer maxReplicas,
    @JsonPropertyDescription("Which counts between the bounds are possible.") @Default("Any")
        @Nullable AllowedReplicasKind allowedReplicas,
    @JsonPropertyDescription(
            "Slots (GPUs) of each replica, all on one node. Without it, as many as the containers"
                + " of the template ask for together, else 1. Cannot change.")
        @Min(1)
        @Max(ElasticSpec.MOST_SLOTS)
        @Nullable Integer slotsPerReplica,
    @JsonPropertyDescription(
            "How the number of replicas changes. Live: replicas come and go while the others train,"
                + " which programs and scripts of the kastor package can. Restart: of a template"
                + " without goodput, all pods are told to end and start again in the new number.")
        @Default("Live")
        @Nullable Rescale rescale) {
  /** Most slots that a replica may take. */
  public static final int MOST_SLOTS = 64;

  /** How the replica count changes. */
  public enum Rescale {
    Live,
    Restart
  }

  /** Bounds within which replicas come and go, whose size the template says, or of one slot. */
  public ElasticSpec(
      @Nullable Integer minReplicas,
      @Nullable Integer maxReplicas,
      @Nullable AllowedReplicasKind allowedReplicas) {
    this(minReplicas, maxReplicas, allowedReplicas, null, null);
  }

  /** The same with replicas of so many slots. */
  public ElasticSpec withSlotsPerReplica(int slots) {
    return new ElasticSpec(minReplicas, maxReplicas, allowedReplicas, slots, rescale);
  }

  /** Which replica counts a job can run with. */
  public enum AllowedReplicasKind {
    Any,
    PowersOfTwo
  }
}
