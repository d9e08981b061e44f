package dev.kastor.traces.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.traces.NoiseCurve;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceReadersTest {
  private static final String HEADER =
      "name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas\n";

  @TempDir private Path folder = Path.of("");

  private Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("w.csv"), content);
  }

  private static final Pattern PROFILES = Pattern.compile("profiles/[a-z]+\\.csv");

  @Test
  void readsAllShippedFiles() throws IOException, TraceException {
    Path traces = Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
    Set<String> small = Applications.read(traces.resolve("profiles/kastor.csv")).keySet();
    assertThat(small).containsExactly("digits", "images", "language", "speech", "ranking");
    var fitted = Applications.read(traces.resolve("profiles/fitted.csv"));
    assertThat(fitted).hasSize(6);
    assertThat(fitted.values())
        .allMatch(a -> a.gpuTypes().equals(List.of("t4", "a100", "rtx")), "has three GPU types");
    try (Stream<Path> files = Files.list(traces.resolve("workloads"))) {
      List<Path> workloads = files.sorted().toList();
      assertThat(workloads).hasSizeGreaterThanOrEqualTo(6);
      for (Path workload : workloads) {
        Matcher named = PROFILES.matcher(Files.readString(workload));
        Path profiles = traces.resolve(named.find() ? named.group() : "profiles/kastor.csv");
        Workload read = TraceFormats.read(workload, Applications.read(profiles).keySet());
        assertThat(read.jobs()).as("%s", workload).isNotEmpty();
      }
    }
  }

  @Test
  void readsAWorkload() throws IOException, TraceException {
    Workload workload =
        TraceFormats.read(
            file("# note\n" + HEADER + "a,0,p,1,4,2\n\nb,1.5,p,2,2,2\n"), Set.of("p"));
    assertThat(workload.name()).isEqualTo("w");
    assertThat(workload.jobs())
        .containsExactly(
            new Workload.Job("a", 0, "p", 1, 4, 2, 0, Workload.Category.ADAPTIVE),
            new Workload.Job("b", 1.5, "p", 2, 2, 2, 0, Workload.Category.ADAPTIVE));
  }

  @Test
  void readsAWorkloadWithAByteOrderMark() throws IOException, TraceException {
    Workload plain = TraceFormats.read(file(HEADER + "a,0,p,1,4,2\n"), Set.of("p"));

    Workload marked = TraceFormats.read(file("\uFEFF" + HEADER + "a,0,p,1,4,2\n"), Set.of("p"));

    assertThat(marked.jobs()).isEqualTo(plain.jobs());
  }

  @Test
  void aJobOfWhichOnlyItsDurationIsKnownIsRigidUnlessItsRowSaysOtherwise()
      throws IOException, TraceException {
    Path alone = file("name,submitSeconds,requestedReplicas,durationSeconds\na,0,2,60\nb,1,4,9\n");
    Workload rigid = TraceFormats.read(alone, Set.of());
    assertThat(rigid.jobs())
        .containsExactly(
            Workload.Job.timed("a", 0, 2, 60, Workload.Outcome.COMPLETED),
            Workload.Job.timed("b", 1, 4, 9, Workload.Outcome.COMPLETED));
    assertThat(rigid.assumptions())
        .isEqualTo("of 2 of 2 jobs only size and duration are known: they are rigid");
    Workload said =
        TraceFormats.read(
            file(
                """
                name,submitSeconds,requestedReplicas,durationSeconds,category,maxReplicas
                a,0,2,60,,
                b,1,4,9,adaptive,
                c,2,4,9,,8
                """),
            Set.of());
    assertThat(said.jobs())
        .extracting(Workload.Job::category)
        .containsExactly(
            Workload.Category.RIGID, Workload.Category.ADAPTIVE, Workload.Category.ADAPTIVE);
    assertThat(said.jobs()).extracting(Workload.Job::minReplicas).containsExactly(2, 1, 1);
    assertThat(said.assumptions()).contains("1 are rigid, 2 faster in proportion to their GPUs");
  }

  @Test
  void writesAndReadsQueuesAndPriorities() throws IOException, TraceException {
    Workload.Job plain = new Workload.Job("a", 0, "p", 1, 4, 2, 0, Workload.Category.ADAPTIVE);
    Workload workload =
        new Workload(
            "w",
            List.of(
                plain,
                new Workload.Job("b", 2, "p", 1, 4, 2, 0, Workload.Category.ADAPTIVE)
                    .queued("night, low", -3)));
    Path file = file(WorkloadFile.text(List.of(), workload));
    assertThat(Files.readString(file)).contains("outcome,queue,priority");
    assertThat(TraceFormats.read(file, Set.of("p")).jobs()).isEqualTo(workload.jobs());
    assertThat(WorkloadFile.text(List.of(), new Workload("w", List.of(plain))))
        .doesNotContain("queue");
  }

  @Test
  void writesAndReadsTheSizeOfReplicas() throws IOException, TraceException {
    Workload.Job one = new Workload.Job("a", 0, "p", 1, 4, 2, 0, Workload.Category.ADAPTIVE);
    Workload workload =
        new Workload(
            "w",
            List.of(
                one,
                new Workload.Job("b", 2, "p", 1, 4, 2, 0, Workload.Category.ADAPTIVE)
                    .withSlotsPerReplica(8)));
    Path file = file(WorkloadFile.text(List.of(), workload));
    assertThat(Files.readString(file)).contains("outcome,slotsPerReplica");
    assertThat(TraceFormats.read(file, Set.of("p")).jobs()).isEqualTo(workload.jobs());
    assertThat(WorkloadFile.text(List.of(), new Workload("w", List.of(one))))
        .doesNotContain("slotsPerReplica");
    Path none = file(HEADER.strip() + ",slotsPerReplica\na,0,p,1,4,2,0\n");
    assertThatThrownBy(() -> TraceFormats.read(none, Set.of("p")))
        .isInstanceOf(TraceException.class)
        .hasMessageContainingAll("line 2", "column slotsPerReplica", "at least 1");
  }

  @Test
  void namesFileLineAndColumn() throws IOException {
    assertProblem("a,x,p,1,4,2\n", "line 2", "column submitSeconds", "'x'");
    assertProblem("a,0,p,1,4,2\nb,0,q,1,4,2\n", "line 3", "column application", "'q'", "p");
    assertProblem("a,0,p,1,4,2\na,0,p,1,4,2\n", "line 3", "'a'", "twice");
    assertProblem("a,9,p,1,4,2\nb,8,p,1,4,2\n", "line 3", "8.0", "9.0");
    assertProblem("a,0,p,4,2,2\n", "line 2", "column maxReplicas", "minReplicas (4)");
    assertProblem("a,0,p,1,4,5\n", "line 2", "column requestedReplicas", "5");
    assertProblem("a,0,p,0,4,2\n", "line 2", "column minReplicas", "at least 1");
    assertProblem("a,0,p,1,4\n", "line 2", "5 cells, not 6");
    assertProblem("", "no jobs");
  }

  @Test
  void refusesAPriorityThatIsNoNumber() throws IOException {
    Path file = file(HEADER.strip() + ",priority\na,0,p,1,4,2,high\n");
    assertThatThrownBy(() -> TraceFormats.read(file, Set.of("p")))
        .isInstanceOf(TraceException.class)
        .hasMessageContainingAll("line 2", "column priority", "'high'");
  }

  private void assertProblem(String rows, String... parts) throws IOException {
    Path file = file(HEADER + rows);
    assertThatThrownBy(() -> TraceFormats.read(file, Set.of("p")))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("w.csv")
        .hasMessageContainingAll(parts);
  }

  @Test
  void refusesAnotherHeaderAndAMissingFile() throws IOException {
    Path wrong = file("name,time\na,0\n");
    assertThatThrownBy(() -> TraceFormats.read(wrong, Set.of()))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("the header has no column application");
    assertThatThrownBy(() -> Applications.read(folder.resolve("absent.csv")))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("absent.csv");
  }

  @Test
  void noiseIsLinearBetweenPoints() {
    NoiseCurve curve =
        new NoiseCurve(List.of(new NoiseCurve.Point(0, 100), new NoiseCurve.Point(0.5, 300)));
    assertThat(curve.at(0)).isEqualTo(100);
    assertThat(curve.at(0.25)).isCloseTo(200, within(1e-9));
    assertThat(curve.at(0.9)).isEqualTo(300);
    assertThat(curve.stats(0.25, 64).noiseScale()).isCloseTo(200, within(1e-9));
  }
}
