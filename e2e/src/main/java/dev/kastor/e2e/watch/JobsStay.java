package dev.kastor.e2e.watch;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A job that was ever seen is there until its user deletes it, and a job that ended stays so.
 *
 * <p>The word of the user and the news of the deletion come on different ways, so the word may be
 * some seconds late.
 */
final class JobsStay implements Rule {
  private static final Duration LATE = Duration.ofSeconds(5);

  private final Map<String, Instant> missing = new HashMap<>();
  private final Map<String, String> seen = new HashMap<>();
  private final Map<String, Phase> ended = new HashMap<>();

  @Override
  public List<Finding> broken(World world) {
    List<Finding> findings = new ArrayList<>();
    for (var entry : world.jobs().entrySet()) {
      TrainingJob job = entry.getValue();
      String name = Pods.name(job);
      seen.put(entry.getKey(), name);
      Phase phase = job.getStatus() == null ? null : job.getStatus().phase();
      Phase end = ended.get(entry.getKey());
      if (end != null && phase != end) {
        findings.add(new Finding("a job that ended stays so", name, end + ", now " + phase));
      }
      if (phase == Phase.Succeeded || phase == Phase.Failed) {
        ended.putIfAbsent(entry.getKey(), phase);
      }
    }
    seen.forEach((uid, name) -> {
      if (!world.jobs().containsKey(uid)
          && !world.userDeleted().contains(name)
          && !world.now().isBefore(missing.computeIfAbsent(uid, _ -> world.now()).plus(LATE))) {
        findings.add(new Finding("no job is lost", name, "its user has not deleted it"));
      }
    });
    return findings;
  }
}
