package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class LeanObjectsTest {
  private static final String JOB =
      """
      {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
       "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}, "unknown": 1,
         "managedFields": [{"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1",
           "fieldsV1": {"f:spec": {"f:program": {"f:name": {}}}}}]},
       "spec": {"program": {"name": "glyph-mlp"}}}
      """;

  private final KubernetesSerialization serialization = serialization();

  private static KubernetesSerialization serialization() {
    ObjectMapper mapper = new ObjectMapper();
    new LeanObjects("kastor.dev/slot").customize(mapper);
    return new KubernetesSerialization(mapper, true);
  }

  @Test
  void leavesOutManagersAndNothingElse() {
    TrainingJob job = serialization.unmarshal(JOB, TrainingJob.class);
    assertThat(job.getMetadata().getManagedFields()).isNullOrEmpty();
    assertThat(job.getMetadata().getAdditionalProperties())
        .containsKey("unknown")
        .doesNotContainKey("managedFields");
    assertThat(job.getMetadata().getLabels()).containsEntry("c", "d");
    assertThat(job.getSpec().program()).isEqualTo(new ProgramSpec("glyph-mlp", null));
  }

  @Test
  void aVersionOfAJobIsReadOnce() {
    TrainingJob first = read("u1", "1");
    assertThat(read("u1", "1")).isSameAs(first);
    assertThat(read("u2", "1")).isNotSameAs(first);
    TrainingJob second = read("u1", "2");
    assertThat(second).isNotSameAs(first);
    assertThat(second.getMetadata().getResourceVersion()).isEqualTo("2");
    assertThat(read("u1", "2")).isSameAs(second);
    // One who is late must not get what is newer.
    assertThat(read("u1", "1").getMetadata().getResourceVersion()).isEqualTo("1");
  }

  @Test
  void whatATemplateAsksForIsTheSizeOfAReplica() {
    assertThat(slots("{\"limits\": {\"kastor.dev/slot\": 4}}", "{}")).isEqualTo(4);
    assertThat(slots("{\"requests\": {\"kastor.dev/slot\": \"2\"}}", "{}")).isEqualTo(2);
    assertThat(slots("{\"limits\": {\"nvidia.com/gpu\": 4}}", "{}")).isEqualTo(1);
    assertThat(slots("{\"limits\": {\"kastor.dev/slot\": \"many\"}}", "{}")).isEqualTo(1);
    assertThat(slots("{\"limits\": {\"kastor.dev/slot\": \"9E\"}}", "{}"))
        .isEqualTo(Integer.MAX_VALUE);
    assertThat(slots("3", "{}")).isEqualTo(1);
    // What the owner says is left as it is, right or wrong.
    assertThat(slots("{\"limits\": {\"kastor.dev/slot\": 4}}", "{\"slotsPerReplica\": 2}"))
        .isEqualTo(2);
  }

  private int slots(String resources, String elastic) {
    String job =
        """
        {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob",
         "metadata": {"name": "a", "namespace": "b"},
         "spec": {"elastic": %s, "template": {"spec": {"containers": [
           {"name": "c", "image": "d", "resources": %s}, {"name": "e"}]}}}}
        """
            .formatted(elastic, resources);
    return serialization.unmarshal(job, TrainingJob.class).getSpec().slotsPerReplica();
  }

  @Test
  void conditionsShareTheirTexts() {
    String status =
        """
        "status": {"conditions": [{"type": "Queued", "status": "True", "reason": "NoSlots",
          "message": "waits for 2 GPUs", "lastTransitionTime": "2026-01-02T03:04:05Z"}]},
        "spec":\
        """;
    Condition first = condition(status);
    Condition second = condition(status);
    assertThat(second).isEqualTo(first).isNotSameAs(first);
    assertThat(second.getMessage()).isSameAs(first.getMessage());
    assertThat(second.getLastTransitionTime()).isSameAs(first.getLastTransitionTime());
    assertThat(second.getAdditionalProperties()).isSameAs(Map.of());
    // What nobody knows is kept all the same.
    Condition third = condition(status.replace("\"type\"", "\"more\": 1, \"type\""));
    assertThat(third.getAdditionalProperties()).containsEntry("more", 1);
  }

  private Condition condition(String status) {
    TrainingJob job = serialization.unmarshal(JOB.replace("\"spec\":", status), TrainingJob.class);
    return Objects.requireNonNull(job.getStatus().conditions()).getFirst();
  }

  @Test
  void whatHasNoVersionIsNotShared() {
    TrainingJob first = serialization.unmarshal(JOB, TrainingJob.class);
    assertThat(serialization.unmarshal(JOB, TrainingJob.class)).isNotSameAs(first);
  }

  private TrainingJob read(String uid, String version) {
    String meta = "\"uid\": \"%s\", \"resourceVersion\": \"%s\", ".formatted(uid, version);
    return serialization.unmarshal(
        JOB.replace("\"metadata\": {", "\"metadata\": {" + meta), TrainingJob.class);
  }
}
