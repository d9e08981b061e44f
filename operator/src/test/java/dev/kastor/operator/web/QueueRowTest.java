package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.GoodputSpec.Mode;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobSpec;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.Queue;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import org.junit.jupiter.api.Test;

final class QueueRowTest {
  private static TrainingJob job(String queue, int max, int held, String phase) throws Exception {
    TrainingJob job = TestJobs.job("j" + max + held, 1, max, Mode.Adaptive);
    ObjectMapper json = new ObjectMapper();
    ObjectNode spec = json.valueToTree(job.getSpec());
    job.setSpec(json.treeToValue(spec.put("queue", queue), TrainingJobSpec.class));
    job.setStatus(
        Serialization.unmarshal(
            "phase: %s\nallocation: {replicas: %d, nodes: {}, version: 1, since: '', reason: '', message: ''}"
                .formatted(phase, held),
            TrainingJobStatus.class));
    return job;
  }

  @Test
  void countsWhatTheJobsOfAQueueHold() throws Exception {
    List<QueueRow> rows =
        QueueRow.of(
            List.of(
                job("night", 4, 3, "Running"),
                job("night", 2, 0, "Queued"),
                job("night", 8, 0, "Succeeded")),
            Queue.parse("research=3"),
            8);
    assertThat(rows)
        .containsExactly(
            new QueueRow("night", 1, 1, 1, 3, 6, 6, 8),
            new QueueRow("research", 3, 0, 0, 0, 0, 0, 8));
  }

  @Test
  void sharesFollowTheWeightsAndWhatOneLeavesGoesToTheOthers() throws Exception {
    List<QueueRow> rows =
        QueueRow.of(
            List.of(
                job("a", 20, 1, "Running"), job("b", 20, 1, "Running"), job("c", 2, 1, "Running")),
            Queue.parse("a=3,b=1,c=4"),
            16);
    assertThat(rows.get(2).slotsDeserved()).isEqualTo(2);
    assertThat(rows.get(0).slotsDeserved()).isCloseTo(14 * 0.75, within(1e-9));
    assertThat(rows.get(1).slotsDeserved()).isCloseTo(14 * 0.25, within(1e-9));
  }
}
