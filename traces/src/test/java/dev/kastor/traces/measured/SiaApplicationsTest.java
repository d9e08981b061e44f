package dev.kastor.traces.measured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.CsvRow;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
final class SiaApplicationsTest {
  private static Application published(String name) throws TraceException {
    Map<String, Application> all = SiaApplications.read(PublishedTraces.path("sia/profiles"));
    return Objects.requireNonNull(all.get(name));
  }

  @Test
  void knowsPublishedLimitsAndCosts() throws TraceException {
    Application deepspeech = published("deepspeech2");
    assertThat(deepspeech.batchLimits("rtx").maxAtomicBatch()).isEqualTo(57);
    assertThat(deepspeech.batchLimits("dgx-ext").maxAtomicBatch()).isEqualTo(320);
    assertThat(deepspeech.epochs()).isEqualTo(80);
    assertThat(deepspeech.maxReplicas()).isEqualTo(64);
    Application cifar = published("cifar10");
    assertThat(cifar.restartSeconds()).isEqualTo(50);
    assertThat(cifar.believedRestartSeconds()).isEqualTo(30);
    assertThat(cifar.slowdown()).isEqualTo(1.8);
    assertThat(cifar.traits("rtx").maxNodes()).isEqualTo(3);
  }

  @Test
  void takesAPipelineForOneReplica() throws TraceException {
    Application gpt = published("gpt_pmp");
    assertThat(gpt.gpuTypes()).containsExactly("dgx-ext", "rtx");
    assertThat(gpt.traits("dgx-ext").slotsPerReplica()).isEqualTo(2);
    assertThat(gpt.traits("rtx").slotsPerReplica()).isEqualTo(8);
    // Three times (48 + 1) passes of 0.144 s, then 0.01617 s of synchronisation.
    StepTime alone = gpt.stepTime("dgx-ext", new int[] {1}, 48);
    assertThat(alone.stepSeconds()).isCloseTo(3 * 49 * 0.144 + 0.01617, within(1e-9));
    assertThat(gpt.stepTime("dgx-ext", new int[] {1}, 12).isKnown()).isFalse();
  }

  /**
   * Our cells against the table that the reference's mesh generator gave. Lattice points lie on
   * common spheres, where the cell is a matter of taste, so a share of the answers may differ.
   */
  @Test
  void interpolatesScatteredPointsLikeTheReference() throws TraceException {
    Path folder = PublishedTraces.path("sia/profiles/imagenet");
    Path table = PublishedTraces.path("sia/profiles_interpolated/imagenet-aws.csv.gz");
    GpuTypeTimes untabulated = GpuTypeTimes.read(folder, "aws", folder.resolve("absent"), 16, true);
    List<Double> errors = new ArrayList<>();
    int row = 0;
    for (CsvRow cells :
        CsvRow.readAtLeast(table, List.of("num_nodes", "num_replicas", "local_bsz", "step_time"))) {
      int replicas = cells.positive("num_replicas");
      if (row++ % 97 == 0) {
        int[] packed = new int[cells.positive("num_nodes")];
        for (int n = 0; n < packed.length; n++) {
          packed[n] = Math.min(4, replicas - 4 * n);
        }
        double ours = untabulated.at(packed, cells.positive("local_bsz")).stepSeconds();
        errors.add(Math.abs(ours / cells.atLeast("step_time", 0) - 1));
      }
    }
    errors.sort(null);
    assertThat(errors).hasSizeGreaterThan(80);
    assertThat(errors.get(errors.size() / 2)).isLessThan(1e-6);
    assertThat(errors.getLast()).isLessThan(0.1);
  }

  @Test
  void namesTheFolderWithoutTables(@TempDir Path folder) throws Exception {
    assertThatThrownBy(() -> SiaApplications.read(folder))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining(folder.toString());
    Path bert = Files.createDirectories(folder.resolve("bert"));
    Files.writeString(
        bert.resolve("validation-12.csv"),
        "progress,iteration,metric,grad_sqr,grad_var\n10,10,1,1,1\n");
    assertThatThrownBy(() -> SiaApplications.read(folder))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("placements-TYPE.csv");
    Files.writeString(
        bert.resolve("placements-aws.csv"),
        "placement,local_bsz,step_time,sync_time\n1,4,0.1,0.01\n1,x,0.2,0.01\n");
    assertThatThrownBy(() -> SiaApplications.read(folder))
        .hasMessageContaining("placements-aws.csv, line 3, column local_bsz");
  }
}
