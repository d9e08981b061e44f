package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.NamespaceQuotas;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Room that ResourceQuotas leave the jobs of each namespace in one round. A quota counts pods, so
 * what jobs were given and have no pods for yet is taken off.
 */
final class NamespaceRooms {
  private final NamespaceQuotas quotas;
  private final Map<String, Integer> coming;

  private NamespaceRooms(NamespaceQuotas quotas, Map<String, Integer> coming) {
    this.quotas = quotas;
    this.coming = coming;
  }

  /**
   * The rooms beside these jobs.
   *
   * @param given what each was given
   * @param pods the pods that each has
   */
  static NamespaceRooms of(
      NamespaceQuotas quotas,
      Collection<TrainingJob> jobs,
      Function<TrainingJob, Allocation> given,
      Function<TrainingJob, List<Pod>> pods) {
    Map<String, Integer> coming = new HashMap<>();
    Set<String> without = new HashSet<>();
    for (TrainingJob job : jobs) {
      String namespace = job.getMetadata().getNamespace();
      if (without.contains(namespace)) {
        continue;
      }
      if (!coming.containsKey(namespace) && !quotas.any(namespace)) {
        without.add(namespace);
        continue;
      }
      Allocation allocation = given.apply(job);
      long there = pods.apply(job).stream().filter(SlotCount::occupies).count();
      int missing = Math.max(0, allocation.replicas() - (int) there);
      coming.merge(namespace, missing * allocation.slotsPerReplica(), Integer::sum);
    }
    return new NamespaceRooms(quotas, coming);
  }

  /**
   * Takes room for so many more replicas of the job; false, and takes none, if there is not so
   * much.
   */
  boolean take(TrainingJob job, int more) {
    String namespace = job.getMetadata().getNamespace();
    Integer taken = coming.get(namespace);
    if (taken == null || more <= 0) {
      return true;
    }
    int slots = job.getSpec().slotsPerReplica();
    int room = quotas.room(namespace, slots);
    if (room == Integer.MAX_VALUE) {
      return true;
    }
    if (more > room - Math.ceilDiv(taken, slots)) {
      return false;
    }
    coming.put(namespace, taken + more * slots);
    return true;
  }

  /**
   * Most replicas that the job may have; {@link Integer#MAX_VALUE} where no quota bounds it. What
   * it has already it may keep.
   */
  int most(TrainingJob job, Allocation given) {
    String namespace = job.getMetadata().getNamespace();
    Integer taken = coming.get(namespace);
    if (taken == null) {
      return Integer.MAX_VALUE;
    }
    int slots = job.getSpec().slotsPerReplica();
    int room = quotas.room(namespace, slots);
    return room == Integer.MAX_VALUE
        ? room
        : given.replicas() + Math.max(0, room - Math.ceilDiv(taken, slots));
  }
}
