package dev.kastor.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ComparisonTest {
  @TempDir private Path folder;

  private static String run(String policy, String workload, int seed, String jct) {
    return "{\"policy\":\"%s\",\"workload\":\"%s\",\"mode\":\"pollux\",\"seed\":%d,\"jct\":{%s}}"
        .formatted(policy, workload, seed, jct);
  }

  private Path write(String name, String... runs) throws Exception {
    return Files.writeString(
        folder.resolve(name), "{\"runs\":[%s]}".formatted(String.join(",", runs)));
  }

  private RunFile file(String name, String... runs) throws Exception {
    return RunFile.read(write(name, runs));
  }

  @Test
  void agreesWithAPairedTTestByHand() throws Exception {
    RunFile a = file("a", run("x", "w", 1, "\"p\":10,\"q\":20,\"r\":30,\"s\":40"));
    // The order of jobs in B must not matter.
    RunFile b = file("b", run("y", "w", 1, "\"s\":40,\"r\":24,\"q\":22,\"p\":6"));
    Comparison c = Comparison.of(a, b).getFirst();
    // Differences -4, 2, -6, 0: mean -2, standard deviation 3.6515, t(3) = 3.1824.
    assertThat(c.difference().value()).isEqualTo(-2);
    assertThat(c.difference().low()).isCloseTo(-7.8103, within(1e-3));
    assertThat(c.difference().high()).isCloseTo(3.8103, within(1e-3));
    assertThat(c.ratio().value()).isCloseTo(0.92, within(1e-12));
    assertThat(c.ratio().low()).isBetween(0.6, 0.92);
    assertThat(c.ratio().high()).isBetween(0.92, 1.1);
    assertThat(c.wins()).isEqualTo(2);
    assertThat(c.losses()).isEqualTo(1);
    assertThat(c.ties()).isEqualTo(1);
    assertThat(c.a().median()).isEqualTo(25);
    assertThat(c.a().p90()).isCloseTo(37, within(1e-12));
    assertThat(c.runDifference().low()).isNaN();
  }

  @Tag("slow")
  @Test
  void intervalsCoverTheTruthAboutAsOftenAsTheySay() {
    SplittableRandom random = new SplittableRandom(3);
    int covered = 0;
    int trials = 1000;
    for (int trial = 0; trial < trials; trial++) {
      double[] samples = random.doubles(12, -1, 1).toArray();
      if (!Interval.ofMean(samples).excludes(0)) {
        covered++;
      }
    }
    assertThat(covered).isBetween(925, 975);
  }

  @Test
  void averagesSeedsOfOneJobAndPairsRunsByWorkloadSeedAndMode() throws Exception {
    RunFile a =
        file(
            "a",
            run("x", "w", 1, "\"p\":10"),
            run("x", "w", 2, "\"p\":20"),
            run("x", "v", 1, "\"p\":5"));
    RunFile b =
        file(
            "b",
            run("y", "v", 1, "\"p\":10"),
            run("y", "w", 2, "\"p\":30"),
            run("y", "w", 1, "\"p\":12"));
    Comparison c = Comparison.of(a, b).getFirst();
    assertThat(c.jobs()).isEqualTo(2);
    assertThat(c.difference().value()).isEqualTo((6 + 5) / 2.0);
    assertThat(c.pairs()).extracting(Comparison.RunPair::meanB).containsExactly(12.0, 30.0, 10.0);
    assertThat(c.runDifference().value()).isCloseTo((2 + 10 + 5) / 3.0, within(1e-12));
  }

  @Test
  void comparesPoliciesWithThemselvesWhereBothFilesHaveTheSame() throws Exception {
    String[] runs = {run("x", "w", 1, "\"p\":10"), run("y", "w", 1, "\"p\":11")};
    assertThat(Comparison.of(file("a", runs), file("b", runs)))
        .extracting(c -> List.of(c.policyA(), c.policyB(), c.ties()))
        .containsExactly(List.of("x", "x", 1), List.of("y", "y", 1));
    assertThat(Comparison.of(file("a", runs).only("x"), file("b", runs)))
        .extracting(c -> List.of(c.policyA(), c.policyB()))
        .containsExactly(List.of("x", "x"), List.of("x", "y"));
  }

  @Test
  void saysWhyFilesDoNotPair() throws Exception {
    RunFile a = file("a", run("x", "w", 1, "\"p\":10"));
    assertThatThrownBy(() -> Comparison.of(a, file("b", run("x", "w", 2, "\"p\":10"))))
        .hasMessageContaining("b has no run for workload w, seed 1, mode pollux of ");
    assertThatThrownBy(() ->
            Comparison.of(a, file("b", run("x", "w", 1, "\"p\":1"), run("x", "w", 2, "\"p\":1"))))
        .hasMessageContaining("a has no run for workload w, seed 2");
    assertThatThrownBy(() -> Comparison.of(a, file("b", run("x", "w", 1, "\"q\":10"))))
        .hasMessageContaining("has 1 jobs that the other file lacks, such as 'p'");
    assertThatThrownBy(() ->
            Comparison.of(a, file("b", run("x", "w", 1, "\"p\":1"), run("x", "w", 1, "\"p\":1"))))
        .hasMessageContaining("has two runs of policy x for workload w, seed 1");
    assertThatThrownBy(() -> a.only("z")).hasMessageContaining("no run of policy 'z'. It has: x");
  }

  @Test
  void saysWhatIsWrongWithAFile() throws Exception {
    assertThatThrownBy(() -> RunFile.read(folder.resolve("none")))
        .hasMessageContaining("none does not exist");
    Path broken = Files.writeString(folder.resolve("broken"), "{\"runs\":[\n{\"policy\" 3}]}");
    assertThatThrownBy(() -> RunFile.read(broken)).hasMessageContaining("broken, line 2");
    Path empty = Files.writeString(folder.resolve("empty"), "{}");
    assertThatThrownBy(() -> RunFile.read(empty)).hasMessageContaining("has no runs[]");
    Path text = write("text", run("x", "w", 1, "\"p\":\"soon\""));
    assertThatThrownBy(() -> RunFile.read(text))
        .hasMessageContaining("runs[0].jct.p must be seconds");
  }
}
