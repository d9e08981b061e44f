package dev.kastor.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.ProgramSpec;
import dev.kastor.crds.TrainingJob;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
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
    new LeanObjects().customize(mapper);
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
