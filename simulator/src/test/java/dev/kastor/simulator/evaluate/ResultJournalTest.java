package dev.kastor.simulator.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.plugin.jar.PluginFolder;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.sweep.SweepException;
import dev.kastor.testkit.SourceJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Evaluations that go on where they were, and replays that fail. */
@Tag("slow")
final class ResultJournalTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  private static final int JOBS = 10;

  @TempDir private Path folder;
  private Path journal = Path.of("set before each test");
  private Path workload = Path.of("set before each test");

  @BeforeEach
  void copyWorkload() throws IOException {
    journal = folder.resolve("new/policy.journal");
    List<String> lines = Files.readAllLines(TRACES.resolve("workloads/small-40.csv"));
    workload = Files.write(folder.resolve("jobs.csv"), lines.subList(0, 2 + JOBS));
  }

  private WorkloadSet set(Path... workloads) {
    return WorkloadSet.atLoads(
            Mode.SIA,
            TRACES.resolve("profiles/kastor.csv"),
            ClusterShape.parse("4x4"),
            List.of(workloads).stream().map(Path::toString).toList(),
            List.of(1.0))
        .getFirst();
  }

  private Evaluation evaluate(KnownResults known, List<Long> seeds, Path... workloads)
      throws Exception {
    Evaluation evaluation =
        Evaluation.prepare(
            List.of(set(workloads)), List.of(Part.COMPARISON), List.of(), seeds, known);
    List<Run> made = new ArrayList<>(evaluation.left());
    evaluation.run(2, known, RunListener.NONE);
    assertThat(made).hasSize(evaluation.left().size());
    return evaluation;
  }

  @Test
  void goesOnWhereItWas() throws Exception {
    List<String> whole;
    try (ResultJournal known = ResultJournal.open(journal)) {
      Evaluation first = evaluate(known, List.of(1L), workload);
      assertThat(first.left()).isEqualTo(first.runs()).hasSize(6);
      whole = EvaluationTables.of(first);
    }
    try (ResultJournal known = ResultJournal.open(journal)) {
      Evaluation again = evaluate(known, List.of(1L), workload);
      assertThat(again.left()).isEmpty();
      assertThat(EvaluationTables.of(again)).isEqualTo(whole);
      assertThat(again.costs().getFirst().replays()).isEqualTo(6);
      assertThat(again.costs().getFirst().cpuSeconds()).isPositive();
    }
    // As if killed while it wrote its third result.
    List<String> lines = Files.readAllLines(journal);
    Files.writeString(
        journal, String.join("\n", lines.subList(0, 3)) + "\n" + lines.get(3).substring(0, 40));
    try (ResultJournal known = ResultJournal.open(journal)) {
      Evaluation again = evaluate(known, List.of(1L), workload);
      assertThat(again.left()).hasSize(4);
      assertThat(EvaluationTables.of(again)).isEqualTo(whole);
    }
  }

  @Test
  void makesAgainWhatDependsOnSomethingElse() throws Exception {
    try (ResultJournal known = ResultJournal.open(journal)) {
      evaluate(known, List.of(1L), workload);
    }
    try (ResultJournal known = ResultJournal.open(journal)) {
      assertThat(evaluate(known, List.of(1L, 2L), workload).left()).hasSize(3);
    }
    Files.writeString(workload, Files.readString(workload).replaceFirst(",354,", ",355,"));
    try (ResultJournal known = ResultJournal.open(journal)) {
      assertThat(evaluate(known, List.of(1L), workload).left()).hasSize(6);
    }
  }

  @Test
  void keepsBoundsAsWell() throws Exception {
    Duration slot = Duration.ofMinutes(10);
    List<String> computed = new ArrayList<>();
    List<List<String>> tables = new ArrayList<>();
    for (Duration each : List.of(slot, slot, slot.plusSeconds(1))) {
      try (ResultJournal known = ResultJournal.open(journal)) {
        Evaluation evaluation = evaluate(known, List.of(1L), workload);
        evaluation.bound(
            each,
            known,
            name -> {
              computed.add(name);
              return new Bounds.Listener() {
                @Override
                public void accept(int steps) {}

                @Override
                public void close() {}
              };
            });
        tables.add(EvaluationTables.of(evaluation));
      }
    }
    assertThat(computed).hasSize(2);
    assertThat(tables.get(1)).isEqualTo(tables.get(0));
    assertThat(String.join("\n", tables.getFirst()))
        .contains("| over bound |", "| jobs | lower bound |");
  }

  @Test
  void keysTellApartAllThatAReplayDependsOn() throws Exception {
    RunKeys keys = new RunKeys(CodeVersion.read());
    WorkloadSet set = set(workload);
    List<Contender> contenders = new ArrayList<>();
    List<TriedPolicy> policies =
        Policies.names().stream().map(name -> TriedPolicy.parse(name, Policies.BUILT_IN)).toList();
    for (Part part : Part.values()) {
      part.contenders(policies).stream()
          .filter(one -> !contenders.contains(one))
          .forEach(contenders::add);
    }
    List<Run> runs = new ArrayList<>();
    List<String> found = new ArrayList<>();
    for (Contender contender : contenders) {
      for (long seed : new long[] {1, 2}) {
        Run run = contender.run(set, workload.toString(), seed);
        runs.add(run);
        found.add(keys.of(run));
      }
    }
    assertThat(runs).hasSizeGreaterThan(60).doesNotHaveDuplicates();
    assertThat(found).doesNotHaveDuplicates();
    assertThat(new RunKeys(CodeVersion.read()).of(runs.getFirst())).isEqualTo(found.getFirst());
    // A name is no setting.
    Contender hold = Contender.KASTOR.without("hold 1", "hold=1");
    Contender same = Contender.KASTOR.without("hold of 1", "hold=1.0");
    assertThat(keys.of(hold.run(set, workload.toString(), 1)))
        .isEqualTo(keys.of(same.run(set, workload.toString(), 1)));
  }

  @Test
  void theContentOfJarsCountsForThePoliciesOfJars() throws Exception {
    Path jars = Files.createDirectory(folder.resolve("jars"));
    jar(jars, "of a jar");
    String key = keyOfJar(jars);
    assertThat(keyOfJar(jars)).isEqualTo(key);
    Files.delete(jars.resolve("mine.jar"));
    jar(jars, "of another jar");
    assertThat(keyOfJar(jars)).isNotEqualTo(key);
  }

  private void jar(Path jars, String description) throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("Mine.java"),
            """
            import dev.kastor.plugin.Options;
            import dev.kastor.scheduler.model.Control;
            import dev.kastor.scheduler.plan.Policy;
            import dev.kastor.scheduler.policy.*;
            public final class Mine implements PolicyPlugin {
              @Override public String name() { return "mine"; }
              @Override public String description() { return "%s"; }
              @Override public PolicyTraits traits(Options options) {
                return PolicyTraits.of(Control.PLACEMENT);
              }
              @Override public Policy create(PolicyContext context, Options options) {
                throw new IllegalStateException();
              }
            }
            """
                .formatted(description));
    SourceJar.make(
        jars.resolve("mine.jar"), List.of(source), PolicyPlugin.class.getName(), List.of("Mine"));
  }

  /** The key of a replay under the policy of a jar. */
  private String keyOfJar(Path jars) throws Exception {
    Contender mine =
        Contender.of(
            new PluginFolder(jars).addTo(Policies.BUILT_IN, PolicyPlugin.class).choose("mine"));
    return new RunKeys(CodeVersion.read()).of(mine.run(set(workload), workload.toString(), 1));
  }

  @Test
  void codeCountsForTheReplaysThatItTakesPartIn() throws Exception {
    CodeVersion code = CodeVersion.read();
    assertThat(
            List.of(
                code.of(true, true),
                code.of(true, false),
                code.of(false, true),
                code.of(false, false)))
        .doesNotHaveDuplicates();
    assertThat(CodeVersion.read().of(true, false)).isEqualTo(code.of(true, false));
  }

  @Test
  void leavesAFileAloneThatIsNoJournal() throws Exception {
    Path other = Files.writeString(folder.resolve("thesis.txt"), "all of it, on one line");
    assertThatThrownBy(() -> ResultJournal.open(other))
        .isInstanceOf(SweepException.class)
        .hasMessageContaining("thesis.txt is not a journal");
    assertThat(other).hasContent("all of it, on one line");
    try (ResultJournal _ = ResultJournal.open(journal)) {
      assertThatThrownBy(() -> ResultJournal.open(journal))
          .hasMessageContaining("another process is writing");
    }
  }

  @Test
  void aReplayThatFailsIsARowAndIsTriedAgain() throws Exception {
    // Beyond the 400 days after which replays in rounds are given up.
    Path endless =
        Files.writeString(
            folder.resolve("endless.csv"),
            Files.readString(workload).lines().limit(3).collect(Collectors.joining("\n"))
                + "\nlate,40000000,images,1,,4,256,adaptive,,completed\n");
    try (ResultJournal known = ResultJournal.open(journal)) {
      Evaluation evaluation = evaluate(known, List.of(1L), workload, endless);
      assertThat(evaluation.failures()).hasSize(6);
      String text = String.join("\n", EvaluationTables.of(evaluation));
      assertThat(text)
          .contains("| load 1.0 | kastor | failed: policy kastor left 1 of 2 jobs")
          .contains("| jobs | kastor |")
          .contains("| endless | kastor | failed: policy kastor left 1 of 2 jobs")
          .contains("### Failed replays")
          .doesNotContain("NaN");
      assertThat(text.lines().filter(line -> line.startsWith("| jobs | kastor |")).toList())
          .allMatch(line -> !line.contains("failed"));
      assertThat(EvaluationJson.of(evaluation)).contains("\"why\" : \"policy kastor left 1 of 2");
    }
    try (ResultJournal known = ResultJournal.open(journal)) {
      assertThat(evaluate(known, List.of(1L), workload, endless).left()).hasSize(6);
    }
  }
}
