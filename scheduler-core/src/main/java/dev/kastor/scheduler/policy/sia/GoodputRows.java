package dev.kastor.scheduler.policy.sia;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What jobs' choices were worth when last looked at; valid until a job learns something. */
final class GoodputRows {
  private record Row(
      Optional<GoodputModel> model,
      int maxProfiledReplicas,
      int slotsHeld,
      List<SiaChoices.Valued> values) {}

  private final Map<JobId, Row> rows = new HashMap<>();

  List<SiaChoices.Valued> of(JobState job, SiaChoices choices) {
    Row row = rows.get(job.id());
    if (row == null
        || row.maxProfiledReplicas() != job.maxProfiledReplicas()
        || row.slotsHeld() != job.allocation().slots()
        || !row.model().equals(job.model())) {
      row =
          new Row(
              job.model(), job.maxProfiledReplicas(), job.allocation().slots(), choices.of(job));
      rows.put(job.id(), row);
    }
    return row.values();
  }

  void retain(Collection<JobState> jobs) {
    rows.keySet().retainAll(jobs.stream().map(JobState::id).collect(Collectors.toSet()));
  }
}
