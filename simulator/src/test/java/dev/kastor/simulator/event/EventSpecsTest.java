package dev.kastor.simulator.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.PublishedTraces;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.measured.SiaApplications;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class EventSpecsTest {
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
}
