package dev.kastor.scheduler.policy.support;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * View of a job by a policy that knows one kind of GPU: as if all GPUs were of this type.
 *
 * @param spec the job
 * @param gpuType the type whose step times and batches stand for all
 * @param slotsPerReplica slots that one replica takes there
 */
public record BlindType(JobSpec spec, String gpuType, int slotsPerReplica) {
  /** The type the job asks for, else the first that its model knows, else the first it can use. */
  public static BlindType of(JobState job) {
    JobSpec spec = job.spec();
    List<String> candidates = new ArrayList<>();
    candidates.add(spec.gpuType());
    candidates.addAll(spec.byGpuType().keySet());
    job.model().ifPresent(model -> candidates.addAll(model.paramsByType().keySet()));
    candidates.removeIf(type -> !type.isEmpty() && !spec.runsOn(type));
    String type =
        candidates.stream()
            .filter(candidate -> job.model().isEmpty() || job.model().get().knows(candidate))
            .findFirst()
            .orElse(spec.gpuType());
    return new BlindType(spec, type, spec.slotsPerReplica(type));
  }

  /** Whether the job can use nodes of a type: it must run there, with replicas of this size. */
  public boolean suits(String type) {
    return spec.runsOn(type) && spec.slotsPerReplica(type) == slotsPerReplica;
  }

  /** Whether the job can run with this many slots. */
  public boolean allows(int slots) {
    return slots % slotsPerReplica == 0 && spec.elasticity().allows(slots / slotsPerReplica);
  }

  /**
   * The allocation that a row of slots, whole replicas on each node, stands for. A job that is not
   * alike on all types keeps the nodes of the type that has most of its slots (of two, the faster
   * one); what else it had stays idle, as in the published simulator of Sia (SOSP 2023) when it
   * runs Pollux.
   */
  public Allocation allocation(SequencedMap<Node, Integer> row) {
    SequencedMap<String, Integer> slots = new LinkedHashMap<>();
    String kept = spec.byGpuType().isEmpty() ? "" : mostUsed(row);
    row.forEach((node, count) -> {
      if (spec.byGpuType().isEmpty() || node.gpuType().equals(kept)) {
        slots.put(node.name(), count);
      }
    });
    while (!slots.isEmpty() && !allows(slots.values().stream().mapToInt(count -> count).sum())) {
      slots.replace(slots.lastEntry().getKey(), slots.lastEntry().getValue() - slotsPerReplica);
      slots.values().remove(0);
    }
    return slots.isEmpty() ? Allocation.NONE : Allocation.ofSlots(slots, slotsPerReplica);
  }

  private String mostUsed(SequencedMap<Node, Integer> row) {
    SequencedMap<String, Integer> byType = new LinkedHashMap<>();
    row.forEach((node, count) -> byType.merge(node.gpuType(), count, Integer::sum));
    return byType.entrySet().stream()
        .max(
            Comparator.comparingInt((Map.Entry<String, Integer> entry) -> entry.getValue())
                .thenComparingDouble(entry -> speed(entry.getKey())))
        .map(Map.Entry::getKey)
        .orElse("");
  }

  private double speed(String type) {
    GpuTraits traits = spec.byGpuType().get(type);
    return traits == null ? 0 : traits.referenceSpeed();
  }
}
