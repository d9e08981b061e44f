package dev.kastor.operator.mapping;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads jobs round by round, and remembers those of the last round and their order. Used by one
 * thread.
 */
public final class JobReadings {
  private static final Comparator<JobReading> ORDER =
      Comparator.comparing(JobReading::submitted).thenComparing(JobReading::id);

  private Map<String, JobReading> last = Map.of();
  private List<JobReading> lastOrder = List.of();

  /**
   * What these jobs say, the earliest submitted first.
   *
   * @param given the newest allocation of a job
   */
  public List<JobReading> of(
      Collection<TrainingJob> jobs, Function<TrainingJob, @Nullable AllocationStatus> given) {
    Map<String, JobReading> next = HashMap.newHashMap(jobs.size());
    List<JobReading> fresh = new ArrayList<>();
    for (TrainingJob job : jobs) {
      String uid = uid(job);
      JobReading before = last.get(uid);
      AllocationStatus newest = given.apply(job);
      JobReading reading = before == null ? JobReading.of(job, newest) : before.next(job, newest);
      next.put(uid, reading);
      if (before == null) {
        fresh.add(reading);
      }
    }
    List<JobReading> readings = new ArrayList<>(next.size());
    for (JobReading before : lastOrder) {
      JobReading reading = next.get(uid(before.job()));
      if (reading != null) {
        readings.add(reading);
      }
    }
    readings.addAll(fresh);
    // All but the new ones are in order already, which makes this a look at each.
    readings.sort(ORDER);
    last = next;
    lastOrder = List.copyOf(readings);
    return readings;
  }

  private static String uid(TrainingJob job) {
    return job.getMetadata().getUid();
  }
}
