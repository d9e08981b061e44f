package dev.kastor.operator.cluster;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus.AllocationStatus;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads jobs round by round, and remembers those of the last round. Used by one thread. */
final class JobReadings {
  private Map<String, JobReading> last = Map.of();

  /**
   * What these jobs say, in their order.
   *
   * @param given the newest allocation of a job
   */
  List<JobReading> of(
      Collection<TrainingJob> jobs, Function<TrainingJob, @Nullable AllocationStatus> given) {
    Map<String, JobReading> next = HashMap.newHashMap(jobs.size());
    List<JobReading> readings = new ArrayList<>(jobs.size());
    for (TrainingJob job : jobs) {
      String uid = job.getMetadata().getUid();
      JobReading before = last.get(uid);
      AllocationStatus newest = given.apply(job);
      JobReading reading = before == null ? JobReading.of(job, newest) : before.next(job, newest);
      next.put(uid, reading);
      readings.add(reading);
    }
    last = next;
    return readings;
  }
}
