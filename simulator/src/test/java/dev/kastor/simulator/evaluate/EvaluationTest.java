package dev.kastor.simulator.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.traces.CategoryMix;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
final class EvaluationTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");

  @TempDir private Path folder;

  private static WorkloadSet small(double load) {
    return WorkloadSet.atLoads(
            Mode.SIA,
            TRACES.resolve("profiles/kastor.csv"),
            ClusterShape.parse("4x4"),
            List.of(TRACES.resolve("workloads/small-40.csv").toString()),
            List.of(load))
        .getFirst();
  }

  private static TriedPolicy tried(String text) {
    return TriedPolicy.parse(text, Policies.BUILT_IN);
  }

  private static Evaluation prepare(WorkloadSet set, List<Part> parts, List<Long> seeds)
      throws Exception {
    List<TriedPolicy> policies = Policies.names().stream().map(EvaluationTest::tried).toList();
    return Evaluation.prepare(List.of(set), parts, policies, seeds, KnownResults.NOTHING);
  }

  private static Evaluation evaluate(WorkloadSet set, List<Part> parts) throws Exception {
    Evaluation evaluation = prepare(set, parts, List.of(1L));
    evaluation.run(2, KnownResults.NOTHING, RunListener.NONE);
    return evaluation;
  }

  @Test
  void everyAblationHasOtherOptions() {
    List<String> options =
        Part.ABLATION.contenders(List.of()).stream().map(one -> one.policy().toString()).toList();
    assertThat(options).hasSizeGreaterThan(7).doesNotHaveDuplicates();
    assertThat(options).doesNotContain("kastor").contains("kastor:ranking=false");
  }

  @Test
  void anAblationReachesThePolicy() throws Exception {
    WorkloadSet set = small(1);
    Evaluation evaluation = evaluate(set, List.of(Part.ABLATION));
    for (Contender contender : Part.ABLATION.contenders(List.of())) {
      if (contender.name().equals("no pricing") || contender.name().equals("first replicas 1")) {
        assertThat(evaluation.of(set, contender))
            .as(contender.name())
            .isNotEqualTo(evaluation.of(set, Contender.KASTOR));
      }
    }
  }

  @Test
  void replaysOnceWhateverAsksForIt() throws Exception {
    WorkloadSet set = small(1);
    List<Run> runs = prepare(set, List.of(Part.values()), List.of(1L)).runs();
    assertThat(runs).doesNotHaveDuplicates();
    assertThat(runs.stream().map(run -> run.policy().name())).contains("sia", "fifo", "kastor");
  }

  private static List<String> policiesAt(double load) throws Exception {
    return Evaluation.prepare(
            List.of(small(load)),
            List.of(Part.LOADS),
            List.of(tried("srtf"), tried("shockwave@1")),
            List.of(1L),
            KnownResults.NOTHING)
        .runs()
        .stream()
        .map(run -> run.policy().toString())
        .toList();
  }

  @Test
  void leavesOutPoliciesThatNobodyAskedFor() throws Exception {
    assertThat(policiesAt(1)).containsExactly("sia", "srtf", "shockwave");
    assertThat(policiesAt(2)).containsExactly("sia", "srtf");
    assertThatThrownBy(() -> tried("shockwave@")).hasMessageContaining("shockwave@1");
    assertThatThrownBy(() -> tried("lottery@1")).hasMessageContaining("no policy");
  }

  @Test
  void leavesOutSetsThatNoPartAsksAnythingOf() throws Exception {
    WorkloadSet loaded = small(1);
    WorkloadSet other =
        new WorkloadSet(
            "other",
            loaded.mode(),
            loaded.profiles(),
            loaded.cluster(),
            loaded.workloads(),
            OptionalDouble.empty(),
            1,
            Optional.empty(),
            List.of(),
            true);
    List<TriedPolicy> policies = List.of(tried("srtf"));
    Evaluation evaluation =
        Evaluation.prepare(
            List.of(other, loaded),
            List.of(Part.LOADS),
            policies,
            List.of(1L),
            KnownResults.NOTHING);
    evaluation.run(1, KnownResults.NOTHING, RunListener.NONE);
    assertThat(EvaluationJson.of(evaluation)).contains("load 1.0").doesNotContain("other");
    assertThatThrownBy(() ->
            Evaluation.prepare(
                List.of(other), List.of(Part.LOADS), policies, List.of(1L), KnownResults.NOTHING))
        .hasMessageContaining("the parts loads ask nothing of the sets other");
  }

  @Test
  void repeatsWithOtherSeedsOnlyWhatDependsOnThem() throws Exception {
    List<Run> runs = prepare(small(1), List.of(Part.COMPARISON), List.of(1L, 2L, 3L)).runs();
    assertThat(runs.stream().filter(run -> run.mode() == Mode.EVENTS)).hasSize(9);
    assertThat(runs.stream().filter(run -> run.mode() == Mode.SIA)).hasSize(3);
    assertThat(Contender.of("pollux").seeds(List.of(1L, 2L, 3L))).hasSize(3);
  }

  @Test
  void holdsADisturbedPolicyToThePublishedOneAsDisturbed() throws Exception {
    for (Contender contender : Part.ROBUSTNESS.contenders(List.of())) {
      Contender published = contender.published(Mode.SIA);
      assertThat(published.policy().name()).isEqualTo("sia");
      assertThat(published.events()).isEqualTo(contender.events());
      assertThat(published.adversity().stragglers()).isEqualTo(contender.adversity().stragglers());
      assertThat(published.adversity().reports()).isEqualTo(contender.adversity().reports());
      assertThat(published.adversity().timingNoise())
          .isEqualTo(contender.adversity().timingNoise());
      assertThat(published.adversity().declaredWork()).isEqualTo(DeclaredWork.EXACT);
    }
    // Those that differ in declared work only are held to one replay.
    assertThat(
            prepare(small(1), List.of(Part.ROBUSTNESS), List.of(1L)).runs().stream()
                .filter(run -> run.policy().name().equals("sia")))
        .hasSize(6);
  }

  @Test
  void drawnCategoriesAreTheSameForAllAndReachTheReplay() throws Exception {
    WorkloadSet plain = small(1);
    WorkloadSet mixed =
        new WorkloadSet(
            "mixed",
            plain.mode(),
            plain.profiles(),
            plain.cluster(),
            plain.workloads(),
            plain.load(),
            1,
            Optional.of(CategoryMix.parse("adaptive=1,scale-gpus=1,rigid=1")),
            List.of("pollux"),
            true);
    Evaluation evaluation = evaluate(mixed, List.of(Part.FAIRNESS));
    assertThat(evaluation.runs().stream().map(Run::categories).distinct())
        .containsExactly(mixed.categories(mixed.workloads().getFirst()));
    assertThat(evaluation.runs().stream().map(run -> run.policy().name()))
        .contains("sia", "pollux", "kastor");
    assertThat(evaluation.of(mixed, Contender.KASTOR).meanSeconds())
        .isNotEqualTo(
            evaluate(plain, List.of(Part.FAIRNESS)).of(plain, Contender.KASTOR).meanSeconds());
    assertThat(EvaluationTables.of(evaluation))
        .anyMatch(line -> line.startsWith("| mixed | pollux |"));
  }

  @Test
  void findsPublishedSetsByName() throws Exception {
    Path workloads = Files.createDirectories(folder.resolve("pollux/workloads-2.0"));
    Files.writeString(workloads.resolve("workload-2.csv"), "");
    Files.writeString(workloads.resolve("workload-1.csv"), "");
    Files.writeString(workloads.resolve("README.md"), "");
    WorkloadSet set = PublishedSets.read(folder, List.of("pollux-2.0")).getFirst();
    assertThat(set.workloads())
        .containsExactly(
            workloads.resolve("workload-1.csv").toString(),
            workloads.resolve("workload-2.csv").toString());
    assertThat(set.load()).hasValue(2);
    assertThat(set.factor()).isEqualTo(1);
    assertThatThrownBy(() -> PublishedSets.read(folder, List.of("sia-philly")))
        .hasMessageContaining("is not a folder");
    assertThatThrownBy(() -> PublishedSets.read(folder, List.of("helios")))
        .hasMessageContaining("there is no set 'helios'")
        .hasMessageContaining("sia-philly");
  }

  @Test
  void triesManyVariantsOnOnePublishedSetOfEachMode() throws Exception {
    for (String below :
        List.of(
            "pollux/workloads",
            "pollux/workloads-0.5",
            "pollux/workloads-1.5",
            "pollux/workloads-2.0",
            "sia/workloads/philly",
            "sia/workloads/saturn",
            "sia/workloads/newtrace")) {
      Files.writeString(
          Files.createDirectories(folder.resolve(below)).resolve("workload-1.csv"), "");
    }
    List<WorkloadSet> all = PublishedSets.all(folder);
    assertThat(all).hasSize(8);
    assertThat(all.stream().filter(Part.ABLATION::asks).map(WorkloadSet::name))
        .containsExactly("pollux-1.0", "sia-philly");
    WorkloadSet mixed = PublishedSets.read(folder, List.of("sia-mixed")).getFirst();
    assertThat(Part.ABLATION.asks(mixed)).isTrue();
    assertThat(mixed.categories(mixed.workloads().getFirst()))
        .hasValueSatisfying(drawn ->
            assertThat(drawn)
                .hasToString("ADAPTIVE=1.0,SCALE_GPUS=1.0,RIGID=1.0,RESTART=0.0, seed 1"));
  }

  @Test
  void aTriedPolicyMayHaveOptions() throws Exception {
    List<TriedPolicy> policies = List.of(tried("kastor:hold=10@2"), tried("kastor"));
    assertThat(Part.LOADS.contenders(policies))
        .extracting(Contender::name)
        .containsExactly("kastor:hold=10", "kastor", "kastor, memory");
    assertThat(policies.getFirst().mostLoad()).isEqualTo(2);
  }
}
