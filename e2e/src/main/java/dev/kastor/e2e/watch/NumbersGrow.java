package dev.kastor.e2e.watch;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Versions of allocations, membership generations and numbers of pods never go back, and one
 * version is one allocation: two operators that both decide would break it.
 */
final class NumbersGrow implements Rule {
  private final Map<String, Long> highest = new HashMap<>();
  private final Map<String, AllocationStatus> allocations = new HashMap<>();

  @Override
  public List<Finding> broken(World world) {
    List<Finding> findings = new ArrayList<>();
    for (var entry : world.jobs().entrySet()) {
      TrainingJob job = entry.getValue();
      TrainingJobStatus status = job.getStatus();
      if (status == null) {
        continue;
      }
      String name = Pods.name(job);
      AllocationStatus allocation = status.allocation();
      if (allocation != null) {
        grows(entry.getKey(), name, "allocation version", allocation.version(), findings);
        AllocationStatus known =
            allocations.putIfAbsent(entry.getKey() + allocation.version(), allocation);
        if (known != null && !known.nodes().equals(allocation.nodes())) {
          findings.add(
              new Finding(
                  "one version is one allocation",
                  name + " " + allocation.version(),
                  known.nodes() + " and " + allocation.nodes()));
        }
      }
      grows(entry.getKey(), name, "generation", status.generation(), findings);
      grows(entry.getKey(), name, "number of the next pod", status.nextPod(), findings);
    }
    return findings;
  }

  private void grows(
      String uid, String name, String what, @Nullable Long value, List<Finding> findings) {
    Long before = highest.get(uid + what);
    if (before != null && (value == null || value < before)) {
      findings.add(
          new Finding(
              "numbers never go back", name + " " + what, "%d after %d".formatted(value, before)));
    } else if (value != null) {
      highest.put(uid + what, value);
    }
  }
}
