package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublishedReplayTest {
  @TempDir private Path folder;

  @BeforeEach
  void write() throws Exception {
    Files.createDirectories(folder.resolve("pollux/results"));
    Files.createDirectories(folder.resolve("sia"));
    pollux("workloads", 7.5);
    Files.writeString(
        folder.resolve("sia/baselines.json"),
        """
        {"rows": [
          {"policy": "gavel", "workload": "philly/workload-1", "cpu_seconds": 1},
          {"policy": "sia", "workload": "philly/workload-2", "cpu_seconds": 2},
          {"policy": "sia", "workload": "philly/workload-1", "implementation": "fast", "cpu_seconds": 3},
          {"policy": "sia", "workload": "philly/workload-1", "implementation": "slow", "cpu_seconds": null,
           "cpu_seconds_lower_bound": 4}]}
        """);
  }

  private void pollux(String set, double seconds) throws Exception {
    Files.writeString(
        folder.resolve("pollux/results/baselines.json"),
        """
        {"records": [
          {"policy": "pollux", "workload_set": "%1$s", "workload": "workload-1", "cpu_seconds": null},
          {"policy": "pollux", "workload_set": "%1$s", "workload": "workload-1", "cpu_seconds": %2$s},
          {"policy": "pollux", "workload_set": "other", "workload": "workload-1", "cpu_seconds": 1},
          {"policy": "tiresias", "workload_set": "workloads", "workload": "workload-1", "cpu_seconds": 5}]}
        """
            .formatted(set, seconds));
  }

  @Test
  void takesTheReferencesFromTheFiles() throws Exception {
    var replays = PublishedReplay.all(folder);
    assertThat(replays)
        .extracting(r -> r.run().policy().name())
        .containsExactly("pollux", "tiresias", "sia");
    assertThat(replays.get(0).references())
        .containsExactly(new PublishedReplay.Reference("reference", 7.5));
    assertThat(replays.get(1).references())
        .containsExactly(new PublishedReplay.Reference("reference", 5));
    assertThat(replays.get(2).references())
        .containsExactly(
            new PublishedReplay.Reference("fast", 3),
            new PublishedReplay.Reference("slow (at least)", 4));
    assertThat(replays.get(0).run().workload()).endsWith("pollux/workloads/workload-1.csv");
  }

  @Test
  void saysWhatAFileLacks() throws Exception {
    pollux("others", 7.5);
    assertThatThrownBy(() -> PublishedReplay.all(folder))
        .hasMessageContaining("baselines.json has no CPU time of policy pollux");
  }
}
