package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.TestJobs;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class UserTemplateTest {
  private static final String WHOLE = "nvidia.com/gpu";
  private static final String PART = "nvidia.com/mig-1g.5gb";

  @Test
  void gpusThatAreNoSlotsAreRefusedByName() {
    for (String field : List.of("limits", "requests")) {
      assertThatThrownBy(() -> new UserTemplate(WHOLE).pod(asking(field, PART), 0))
          .isInstanceOf(InvalidTemplate.class)
          .hasMessage(
              "spec.template.spec.containers[0].resources.limits[nvidia.com/mig-1g.5gb]: GPUs of this cluster are given as nvidia.com/gpu, one a slot. Ask for that with spec.elastic.slotsPerReplica, and leave this out.");
    }
    assertThatThrownBy(() -> new UserTemplate(PART).pod(asking("limits", WHOLE), 0))
        .hasMessageContaining("limits[nvidia.com/gpu]: GPUs of this cluster are given as " + PART);
    assertThatThrownBy(() -> new UserTemplate(WHOLE).pod(asking("limits", "amd.com/gpu"), 0))
        .hasMessageContaining("limits[amd.com/gpu]");
  }

  @Test
  void slotsAndDevicesOfOtherKindsAreNot() throws Exception {
    for (String name : List.of(WHOLE, "rdma/hca", "nvidia.com/hostdev")) {
      assertThat(limits(WHOLE, name)).containsEntry(WHOLE, new Quantity("1"));
      assertThat(limits(WHOLE, name)).containsKey(name);
    }
  }

  @Test
  void whereSlotsAreNoGpusATemplateKeepsItsOwn() throws Exception {
    assertThat(limits("kastor.dev/slot", WHOLE))
        .isEqualTo(Map.of("kastor.dev/slot", new Quantity("1"), WHOLE, new Quantity("1")));
  }

  private static Map<String, Quantity> limits(String slotResource, String asked) throws Exception {
    return new UserTemplate(slotResource)
        .pod(asking("limits", asked), 0)
        .getSpec()
        .getContainers()
        .getFirst()
        .getResources()
        .getLimits();
  }

  private static TrainingJob asking(String field, String resource) {
    TrainingJob job = TestJobs.gang("bert", 1, 1);
    Map<String, Object> container =
        Map.of(
            "name", "train", "image", "trainer:1", "resources", Map.of(field, Map.of(resource, 1)));
    Map<String, Object> template = Objects.requireNonNull(job.getSpec().template());
    template.clear();
    template.putAll(new TreeMap<>(Map.of("spec", Map.of("containers", List.of(container)))));
    return job;
  }
}
