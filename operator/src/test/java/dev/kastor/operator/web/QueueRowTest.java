package dev.kastor.operator.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.StopPolicy;
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
            "phase: %s\nallocation: {replicas: %d, nodes: {}, version: 1, since: '', reason: '', message: '', queue: %s}"
                .formatted(phase, held, queue),
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
            directory("research=3"),
            8);
    assertThat(rows)
        .containsExactly(row("night", 1, 1, 1, 3, 6, 6), row("research", 3, 0, 0, 0, 0, 0));
  }

  private static QueueDirectory directory(String configured) {
    return QueueDirectory.of(List.of(), Queue.parse(configured), 1000);
  }

  private static QueueRow row(
      String name, double weight, int running, int waiting, int held, int wanted, double deserved) {
    return new QueueRow(
        name,
        weight,
        running,
        waiting,
        held,
        wanted,
        deserved,
        8,
        null,
        null,
        null,
        null,
        0,
        0,
        StopPolicy.NONE,
        null,
        null,
        null,
        null);
  }

  @Test
  void showsWhatQueuesBorrowAndLend() throws Exception {
    List<QueueRow> rows =
        QueueRow.of(
            List.of(job("a", 8, 6, "Running"), job("b", 2, 1, "Running")),
            QueueDirectory.of(
                List.of(
                    queue("a", "{cohort: c, quota: {gpus: 4, borrowingLimit: 3}}"),
                    queue("b", "{cohort: c, weight: 2, quota: {gpus: 4}, stopPolicy: Hold}")),
                Queue.parse("a=9,night=2"),
                1000),
            8);
    assertThat(rows).extracting(QueueRow::name).containsExactly("a", "b", "night");
    QueueRow a = rows.get(0);
    assertThat(a.weight()).as("the object comes before the configuration").isEqualTo(1);
    assertThat(a.nominal()).isEqualTo(4);
    assertThat(a.borrowed()).isEqualTo(2);
    assertThat(a.borrowingLimit()).isEqualTo(3);
    assertThat(rows.get(1).lent()).isEqualTo(2);
    assertThat(rows.get(1).lendingLimit()).isNull();
    assertThat(rows.get(1).stopPolicy()).isEqualTo(StopPolicy.HOLD);
    assertThat(rows.get(2).nominal()).isNull();
  }

  @Test
  void aQueueThatMakesNoSenseLetsNobodyStart() throws Exception {
    List<QueueRow> rows =
        QueueRow.of(
            List.of(),
            QueueDirectory.of(List.of(queue("a", "{weight: 0}")), Queue.parse("b=2"), 1000),
            8);
    assertThat(rows)
        .extracting(QueueRow::stopPolicy)
        .containsExactly(StopPolicy.HOLD, StopPolicy.NONE);
  }

  private static dev.kastor.crds.queue.Queue queue(String name, String spec) {
    return Serialization.unmarshal(
        "apiVersion: kastor.dev/v1alpha1\nkind: Queue\nmetadata: {name: %s}\nspec: %s"
            .formatted(name, spec),
        dev.kastor.crds.queue.Queue.class);
  }

  @Test
  void sharesFollowTheWeightsAndWhatOneLeavesGoesToTheOthers() throws Exception {
    List<QueueRow> rows =
        QueueRow.of(
            List.of(
                job("a", 20, 1, "Running"), job("b", 20, 1, "Running"), job("c", 2, 1, "Running")),
            directory("a=3,b=1,c=4"),
            16);
    assertThat(rows.get(2).slotsDeserved()).isEqualTo(2);
    assertThat(rows.get(0).slotsDeserved()).isCloseTo(14 * 0.75, within(1e-9));
    assertThat(rows.get(1).slotsDeserved()).isCloseTo(14 * 0.25, within(1e-9));
  }
}
