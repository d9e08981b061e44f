package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.measured.SiaApplications;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class EventSpecsTest {
  @Tag("slow")
  @Test
  void aJobKnowsTheSpeedsOfItsGpuTypesFromTheirProfiles() throws Exception {
    Application application =
        Objects.requireNonNull(
            SiaApplications.read(PublishedTraces.path("sia/profiles")).get("cifar10"));
    JobSpec spec =
        EventSpecs.of(
            new Workload.Job("a", 0, "cifar10", 1, Workload.UNBOUNDED, 4, 2048, Category.ADAPTIVE),
            application,
            Control.SIZE_AND_BATCH,
            ClusterShape.parse("aws=6x4,dgx-ext=2x8,rtx=3x8"));
    for (String type : new String[] {"aws", "dgx-ext", "rtx"}) {
      GpuTraits told = Objects.requireNonNull(spec.byGpuType().get(type));
      assertThat(told.referenceSpeed())
          .isPositive()
          .isEqualTo(application.traits(type).referenceSpeed());
      assertThat(told.maxNodes()).isEqualTo(application.traits(type).maxNodes());
    }
  }

  @Tag("slow")
  @Test
  void replicasAreAsLargeAsTheApplicationWasMeasuredWithOrAsTheJobSays() throws Exception {
    Map<String, Application> applications =
        SiaApplications.read(PublishedTraces.path("sia/profiles"));
    ClusterShape cluster = ClusterShape.parse("dgx-ext=2x8,rtx=3x8");
    JobSpec pipelines =
        spec(Objects.requireNonNull(applications.get("gpt_pmp")), cluster, "gpt_pmp", 1);
    assertThat(pipelines.slotsPerReplica("dgx-ext")).isEqualTo(2);
    assertThat(pipelines.slotsPerReplica("rtx")).isEqualTo(8);
    JobSpec sharded =
        spec(Objects.requireNonNull(applications.get("cifar10")), cluster, "cifar10", 4);
    assertThat(sharded.slotsPerReplica("rtx")).isEqualTo(4);
    assertThat(spec(PlainApplication.linear(10), cluster, "linear", 4).slotsPerReplica())
        .isEqualTo(4);
  }

  @Test
  void aJobWhoseReplicaNoNodeCanHoldIsRefused() {
    ClusterShape cluster = ClusterShape.parse("4x4");
    assertThatThrownBy(() -> spec(PlainApplication.linear(10), cluster, "linear", 8))
        .hasMessageContaining("job a needs 1 times 8 GPUs of one node")
        .hasMessageContaining("never has more than 0");
  }

  private static JobSpec spec(
      Application application, ClusterShape cluster, String name, int slotsPerReplica) {
    return EventSpecs.of(
        new Workload.Job("a", 0, name, 1, Workload.UNBOUNDED, 1, 0, Category.ADAPTIVE)
            .withSlotsPerReplica(slotsPerReplica),
        application,
        Control.SIZE_AND_BATCH,
        cluster);
  }
}
