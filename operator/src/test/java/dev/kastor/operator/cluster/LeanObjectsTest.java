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

  @Test
  void leavesOutManagersAndNothingElse() {
    ObjectMapper mapper = new ObjectMapper();
    new LeanObjects().customize(mapper);
    TrainingJob job = new KubernetesSerialization(mapper, true).unmarshal(JOB, TrainingJob.class);
    assertThat(job.getMetadata().getManagedFields()).isNullOrEmpty();
    assertThat(job.getMetadata().getAdditionalProperties())
        .containsKey("unknown")
        .doesNotContainKey("managedFields");
    assertThat(job.getMetadata().getLabels()).containsEntry("c", "d");
    assertThat(job.getSpec().program()).isEqualTo(new ProgramSpec("glyph-mlp", null));
  }
}
