package dev.kastor.scheduler.live;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * What a job asks for, in a {@link LiveDocument}.
 *
 * @param kind what the scheduler may change
 * @param allowed which numbers of replicas are possible
 */
public record SpecDocument(
    String namespace,
    String name,
    String submitted,
    String family,
    Kind kind,
    int minReplicas,
    int maxReplicas,
    AllowedDocument allowed,
    int requestedReplicas,
    BatchLimits batchLimits,
    String gpuType,
    List<TypeDocument> byGpuType,
    String queue,
    int priority,
    int slotsPerReplica,
    Map<String, Integer> mostExamples) {
  /** Kinds of elasticity. */
  public enum Kind {
    RIGID,
    ELASTIC,
    RESTARTING,
    ADAPTIVE
  }

  /**
   * Numbers of replicas that are possible.
   *
   * @param rule {@code any}, {@code powersOfTwo} or {@code listed}
   * @param counts those of {@code listed}
   */
  public record AllowedDocument(String rule, List<Integer> counts) {
    public AllowedDocument {
      counts = List.copyOf(counts);
    }

    private static AllowedDocument of(AllowedReplicas allowed) {
      return switch (allowed) {
        case AllowedReplicas.Any any -> new AllowedDocument("any", List.of());
        case AllowedReplicas.PowersOfTwo powers -> new AllowedDocument("powersOfTwo", List.of());
        case AllowedReplicas.Listed listed -> new AllowedDocument("listed", listed.counts());
      };
    }

    private AllowedReplicas allowed() {
      return switch (rule) {
        case "any" -> new AllowedReplicas.Any();
        case "powersOfTwo" -> new AllowedReplicas.PowersOfTwo();
        case "listed" -> new AllowedReplicas.Listed(counts);
        default ->
            throw new IllegalArgumentException(
                "rule must be any, powersOfTwo or listed but is " + rule);
      };
    }
  }

  /** What differs on a GPU type. */
  public record TypeDocument(
      String gpuType,
      BatchLimits batchLimits,
      int slotsPerReplica,
      double referenceSpeed,
      int maxNodes) {}

  public SpecDocument {
    byGpuType = List.copyOf(byGpuType);
    mostExamples = Map.copyOf(mostExamples);
  }

  static SpecDocument of(JobSpec spec) {
    List<TypeDocument> types = new ArrayList<>();
    spec.byGpuType()
        .forEach((type, traits) ->
            types.add(
                new TypeDocument(
                    type,
                    traits.batchLimits(),
                    traits.slotsPerReplica(),
                    traits.referenceSpeed(),
                    traits.maxNodes())));
    return new SpecDocument(
        spec.id().namespace(),
        spec.id().name(),
        spec.submitted().toString(),
        spec.family(),
        kind(spec.elasticity()),
        spec.elasticity().min(),
        spec.elasticity().max(),
        AllowedDocument.of(spec.elasticity().allowed()),
        spec.requestedReplicas(),
        spec.batchLimits(),
        spec.gpuType(),
        types,
        spec.queue(),
        spec.priority(),
        spec.slotsPerReplica(),
        new TreeMap<>(spec.mostExamples()));
  }

  private static Kind kind(Elasticity elasticity) {
    return switch (elasticity) {
      case Elasticity.Rigid rigid -> Kind.RIGID;
      case Elasticity.Elastic elastic -> Kind.ELASTIC;
      case Elasticity.Restarting restarting -> Kind.RESTARTING;
      case Elasticity.Adaptive adaptive -> Kind.ADAPTIVE;
    };
  }

  JobSpec spec() {
    SequencedMap<String, GpuTraits> types = new LinkedHashMap<>();
    byGpuType.forEach(each ->
        types.put(
            each.gpuType,
            new GpuTraits(
                each.batchLimits, each.slotsPerReplica, each.referenceSpeed, each.maxNodes)));
    return new JobSpec(
        new JobId(namespace, name),
        Instant.parse(submitted),
        family,
        elasticity(),
        requestedReplicas,
        batchLimits,
        gpuType,
        types,
        queue,
        priority,
        slotsPerReplica,
        mostExamples);
  }

  private Elasticity elasticity() {
    AllowedReplicas counts = allowed.allowed();
    return switch (kind) {
      case RIGID -> new Elasticity.Rigid(minReplicas);
      case ELASTIC -> new Elasticity.Elastic(minReplicas, maxReplicas, counts);
      case RESTARTING -> new Elasticity.Restarting(minReplicas, maxReplicas, counts);
      case ADAPTIVE -> new Elasticity.Adaptive(minReplicas, maxReplicas, counts);
    };
  }
}
