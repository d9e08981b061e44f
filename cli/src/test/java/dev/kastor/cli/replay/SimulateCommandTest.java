package dev.kastor.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.TerminalOutput;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Run;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SimulateCommandTest {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
  private static final String WORKLOAD = TRACES.resolve("workloads/burst-8.csv").toString();

  @TempDir private Path folder;

  private Terminal.Result simulate(String... arguments) {
    List<String> all =
        new ArrayList<>(
            List.of("simulate", "--profiles", TRACES.resolve("profiles/kastor.csv").toString()));
    all.addAll(List.of(arguments));
    return Terminal.runPlain(all.toArray(String[]::new));
  }

  private String file(String name) {
    return folder.resolve(name).toString();
  }

  private List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void namesWhatCannotBeReplayedAndGoesOnWithTheOthers() throws IOException {
    String header = "name,submitSeconds,application,minReplicas,maxReplicas,requestedReplicas\n";
    // Replays in rounds are given up after 400 days.
    Path endless =
        Files.writeString(folder.resolve("endless.csv"), header + "late,40000000,images,1,4,1\n");
    Path ends = Files.writeString(folder.resolve("ends.csv"), header + "a,0,images,1,4,1\n");
    List<String> options = List.of("--mode", "pollux", "--policy", "fifo", "--json");
    List<String> both = new ArrayList<>(List.of("--workload", endless.toString()));
    both.addAll(List.of("--workload", ends.toString()));
    both.addAll(options);
    both.add(file("both.json"));

    Terminal.Result result = simulate(both.toArray(String[]::new));

    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err())
        .contains("cannot replay fifo, " + endless)
        .contains(": policy fifo left 1 of 1 jobs");
    assertThat(result.out()).contains("ends.csv: 1 jobs").doesNotContain("endless");
    assertThat(new ObjectMapper().readTree(folder.resolve("both.json").toFile()).get("runs"))
        .hasSize(1);

    Terminal.Result none =
        simulate("--workload", endless.toString(), "--mode", "pollux", "--policy", "fifo");
    assertThat(none.code()).isEqualTo(ExitCode.FAILED);
    assertThat(none.out()).isEmpty();
  }

  @Tag("slow")
  @Test
  void writesWhatItIsAskedFor() throws IOException {
    Terminal.Result result =
        simulate(
            "--workload",
            WORKLOAD,
            "--policy",
            "fifo,tiresias",
            "--seeds",
            "2",
            "--json",
            file("out.json"),
            "--csv",
            file("out.csv"),
            "--plots",
            file("plots"));
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("MEAN JCT", "P99", "MAKESPAN", "GPU-HOURS", "RESTARTS", "FTF", "DECISION")
        .contains("tiresias #2")
        .contains("report.html");
    // Not a terminal: a line for each run, nothing that moves the cursor.
    assertThat(result.err().lines()).hasSize(4).allMatch(line -> line.contains("left"));
    assertThat(result.err()).doesNotContain("\r").doesNotContain("\033");
    JsonNode runs = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).get("runs");
    assertThat(runs).hasSize(4);
    assertThat(runs.get(0).get("workload").asText()).isEqualTo(WORKLOAD);
    assertThat(Files.readAllLines(folder.resolve("out.csv"))).hasSize(5);
    assertThat(folder.resolve("plots/burst-8-seed-1/jct-cdf.png")).isNotEmptyFile();
    assertThat(folder.resolve("plots/report.html")).isNotEmptyFile();
    assertThat(left()).containsExactly("out.csv", "out.json", "plots");
  }

  @Tag("slow")
  @Test
  void jobsOfWhichOnlyTheDurationIsKnownAreReplayedAsRigidOnes() throws IOException {
    StringBuilder plain = new StringBuilder("name,submitSeconds,requestedReplicas,durationSeconds");
    StringBuilder rigid = new StringBuilder(plain).append(",category");
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 40; i++) {
      String row =
          "\njob-%d,%d,%d,%d"
              .formatted(i, i * 30, 1 << random.nextInt(4), 60 + random.nextInt(1800));
      plain.append(row);
      rigid.append(row).append(",rigid");
    }
    List<List<Double>> ofBoth = new ArrayList<>();
    for (StringBuilder text : List.of(plain, rigid)) {
      Path workload = Files.writeString(folder.resolve("own.csv"), text.append('\n'));
      Terminal.Result result =
          simulate(
              "--workload",
              workload.toString(),
              "--cluster",
              "2x8",
              "--policy",
              "kastor,fifo",
              "--json",
              file("out.json"));
      assertThat(result.code()).as(result.err()).isZero();
      JsonNode runs = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).get("runs");
      List<Double> means = new ArrayList<>();
      runs.forEach(run -> means.add(run.at("/avgJctSeconds").asDouble(-1)));
      ofBoth.add(means);
    }
    assertThat(ofBoth.getFirst()).hasSize(2).allMatch(mean -> mean > 0);
    assertThat(ofBoth.getLast()).isEqualTo(ofBoth.getFirst());
  }

  @Test
  void refusesBadInputWithoutAnyOutput() throws IOException {
    Path bad = Files.writeString(folder.resolve("bad.csv"), "name,time\na,1\n");
    List<List<String>> refused =
        List.of(
            List.of(
                "--policy", "best", "there is no policy 'best'. Use one of: kastor, pollux, fifo"),
            List.of("--mode", "fast", "there is no mode 'fast'. Use one of: pollux, sia, events"),
            List.of("--cluster", "4by4", "must be NODESxGPUS"),
            List.of("--round", "0", "--round must be at least 1"),
            List.of("--seeds", "0", "--seeds must be at least 1"),
            List.of("--interference", "1.5", "interference must be at least 0 and below 1"),
            List.of("--resize", "8", "must be HOURS:NODES"),
            List.of("--node-failures", "5", "--node-failures needs two numbers"),
            List.of("--workload", file("none.csv"), "none.csv"),
            List.of("--workload", bad.toString(), "bad.csv, line 1"),
            List.of("--cluster", "1x1", "burst-8.csv, line "));
    for (List<String> one : refused) {
      List<String> arguments = new ArrayList<>(List.of("--json", file("out.json")));
      if (!one.getFirst().equals("--workload")) {
        arguments.addAll(List.of("--workload", WORKLOAD));
      }
      if (!one.getFirst().equals("--policy")) {
        arguments.addAll(List.of("--policy", "fifo"));
      }
      arguments.addAll(one.subList(0, 2));
      Terminal.Result result = simulate(arguments.toArray(String[]::new));
      assertThat(result.code()).as(one.toString()).isEqualTo(ExitCode.USAGE);
      assertThat(result.err()).as(one.toString()).contains(one.get(2)).doesNotContain("\tat ");
    }
    assertThat(left()).containsExactly("bad.csv");
  }

  @Test
  void knowsBeforeAReplayThatItCannotWrite() throws IOException {
    Files.writeString(folder.resolve("file"), "");
    Terminal.Result result =
        simulate("--workload", WORKLOAD, "--policy", "fifo", "--json", file("file/out.json"));
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("out.json cannot be written").doesNotContain("mean JCT");
    assertThat(simulate("--json", folder.toString()).err()).contains("is a folder");
  }

  @Tag("slow")
  @Test
  void whatASchedulerDoesNotKnowIsPartOfTheResult() throws IOException {
    Terminal.Result result =
        simulate(
            "--workload",
            WORKLOAD,
            "--policy",
            "pollux",
            "--json",
            file("out.json"),
            "--quiet",
            "--declared-work",
            "0.5",
            "--timing-noise",
            "0.1",
            "--lost-reports",
            "0.2",
            "--late-reports",
            "20",
            "--stragglers",
            "0.25:2",
            "--queues",
            "night=0.5");
    assertThat(result.code()).as(result.err()).isZero();
    JsonNode run = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).at("/runs/0");
    assertThat(run.get("conditions").asText())
        .isEqualTo(
            "declared work 0.5, timing noise 0.1, 0.2 of the reports are lost, reports 20000 ms"
                + " late, 0.25 of the nodes 2.0 times slower, queue night=0.5");
  }

  @Tag("slow")
  @Test
  void queuesMayHaveQuotas() throws IOException {
    Path queues =
        Files.writeString(
            folder.resolve("queues.yaml"),
            """
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: a}
            spec: {cohort: all, quota: {gpus: 4, borrowingLimit: 2}}
            ---
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: b}
            spec: {cohort: all, weight: 2, quota: {gpus: 4, lendingLimit: 0}}
            """);
    Terminal.Result result =
        simulate(
            "--workload",
            WORKLOAD,
            "--policy",
            "kastor",
            "--json",
            file("out.json"),
            "--quiet",
            "--queues",
            queues.toString());
    assertThat(result.code()).as(result.err()).isZero();
    JsonNode run = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).at("/runs/0");
    assertThat(run.get("conditions").asText())
        .contains("queue a=1.0 quota 4 of cohort all borrowing 2, queue b=2.0 quota 4")
        .contains("lending 0");
    String budget =
        Files.readString(queues).replace("weight: 2,", "budget: {gpuHours: 100, period: Week},");
    Files.writeString(queues, budget);
    Terminal.Result spends =
        simulate(
            "--workload",
            WORKLOAD,
            "--json",
            file("out.json"),
            "--quiet",
            "--queues",
            queues.toString());
    assertThat(spends.code()).as(spends.err()).isZero();
    assertThat(
            new ObjectMapper()
                .readTree(folder.resolve("out.json").toFile())
                .at("/runs/0/conditions")
                .asText())
        .contains("lending 0 budget 100 GPU-hours a week");
    Files.writeString(queues, budget.replace("gpuHours: 100", "gpuHours: 0"));
    assertThat(simulate("--workload", WORKLOAD, "--queues", queues.toString()).err())
        .contains("budget of 0.0 GPU-hours: its jobs would wait for ever");
    Files.writeString(queues, budget.replace("gpus: 4, b", "b"));
    assertThat(simulate("--workload", WORKLOAD, "--queues", queues.toString()).err())
        .contains("queues.yaml has queue a with a quota but no quota.gpus");
    Files.writeString(queues, "kind: Pod");
    assertThat(simulate("--workload", WORKLOAD, "--queues", queues.toString()).err())
        .contains("must hold objects of kind Queue");
  }

  @Tag("slow")
  @Test
  void aClusterThatFollowsAdviceSaysWhatItProvided() throws IOException {
    Terminal.Result result =
        simulate(
            "--workload",
            WORKLOAD,
            "--policy",
            "pollux",
            "--json",
            file("out.json"),
            "--quiet",
            "--autoscale",
            "0.5:0.8:1-6",
            "--node-delay",
            "60");
    assertThat(result.code()).as(result.err()).isZero();
    JsonNode run = new ObjectMapper().readTree(folder.resolve("out.json").toFile()).at("/runs/0");
    assertThat(run.get("conditions").asText()).isEqualTo("nodes as advised 0.5:0.8:1-6 after 60 s");
    assertThat(run.get("providedGpuHours").asDouble())
        .isGreaterThanOrEqualTo(run.get("gpuHours").asDouble());
  }

  @Test
  void refusesConditionsThatCannotBe() {
    assertThat(simulate("--workload", WORKLOAD, "--autoscale", "0.9:0.5:1-4").err())
        .contains("low (0.9) must be above 0 and below high (0.5)");
    assertThat(simulate("--workload", WORKLOAD, "--declared-work", "1.5").err())
        .contains("below 1 but is 1.5");
    assertThat(simulate("--workload", WORKLOAD, "--stragglers", "0.5").err())
        .contains("SHARE:FACTOR such as 0.1:2");
    assertThat(simulate("--workload", WORKLOAD, "--stragglers", "2:2").err())
        .contains("between 0 and 1");
    assertThat(simulate("--workload", WORKLOAD, "--queues", "night").err())
        .contains("such as research=3,night=0.5");
    assertThat(simulate("--workload", WORKLOAD, "--lost-reports", "1").err())
        .contains("below 1 but is 1.0");
    Terminal.Result ticks =
        simulate("--workload", WORKLOAD, "--mode", "pollux", "--stragglers", "0.5:2");
    assertThat(ticks.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ticks.err()).contains("mode pollux knows no", "stragglers");
  }

  @Test
  void conditionsMakeAReplaySlower() throws IOException {
    simulate(
        "--workload", WORKLOAD, "--policy", "tiresias", "--json", file("plain.json"), "--quiet");
    Terminal.Result hard =
        simulate(
            "--workload",
            WORKLOAD,
            "--policy",
            "tiresias",
            "--resize",
            "0.05:2",
            "--json",
            file("hard.json"),
            "--quiet");
    assertThat(hard.code()).as(hard.err()).isZero();
    assertThat(hard.err()).isEmpty();
    Terminal.Result compared =
        Terminal.runPlain(
            "compare", file("plain.json"), file("hard.json"), "--json", file("diff.json"));
    assertThat(compared.code()).as(compared.err()).isZero();
    assertThat(compared.out()).contains("(paired t)", "(bootstrap of pairs)", "sooner under B");
    JsonNode difference =
        new ObjectMapper().readTree(folder.resolve("diff.json").toFile()).at("/comparisons/0");
    assertThat(difference.at("/differenceSeconds/value").asDouble()).isPositive();
    assertThat(difference.at("/jobs").asInt()).isEqualTo(8);
  }

  @Test
  void saysThatFilesDoNotPair() throws IOException {
    Files.writeString(folder.resolve("empty.json"), "{}");
    Terminal.Result result =
        Terminal.runPlain("compare", file("empty.json"), file("none.json"), "--json", file("d"));
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("empty.json has no runs[]");
    assertThat(left()).containsExactly("empty.json");
  }

  @Test
  void progressOnATerminalStaysOnOneLineWithRateAndTimeLeft() {
    Run run =
        new Run(
            Mode.POLLUX,
            Path.of("p"),
            "w.csv",
            ClusterShape.parse("4x4"),
            Policies.choose("pollux"),
            1,
            Duration.ofSeconds(60),
            1,
            Conditions.PLAIN);
    StringWriter text = new StringWriter();
    AtomicLong nanos = new AtomicLong();
    ReplayProgress progress =
        new ReplayProgress(new TerminalOutput(text), List.of(run, run), false, true, nanos::get);
    progress.at(0, 60, 0, 10);
    nanos.set(2_000_000_000);
    progress.at(0, 7200, 5, 10);
    // Two hours in two seconds; two more for the rest of this run, and as the second one is not
    // begun and nothing like it has ended, nothing is said of the time left.
    assertThat(text.toString())
        .isEqualTo(
            "\033[1G\033[K0/2 runs  pollux, w.csv on 4x4, seed 1: 50 % of jobs  1 virtual h/s");
    nanos.set(2_100_000_000);
    progress.at(0, 7260, 5, 10);
    assertThat(text.toString().split("\033\\[K", -1))
        .as("not drawn five times a second")
        .hasSize(2);
    progress.at(1, 60, 0, 10);
    nanos.set(4_000_000_000L);
    progress.at(1, 7200, 5, 10);
    assertThat(text.toString())
        .contains("pollux, w.csv on 4x4, seed 1: 50 % of jobs  1 virtual h/s, about");
    progress.close();
    assertThat(text.toString()).endsWith("\033[1G\033[K").doesNotContain("\n");
  }
}
