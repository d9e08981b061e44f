package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.api.ResourceType;
import dev.kastor.scheduler.policy.registry.Policies;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class KastorTest {
  private static final String GOOD = Terminal.JOB;

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(folder);
  }

  @AfterEach
  void stop() {
    terminal.close();
  }

  private String file(String content) throws IOException {
    return Files.writeString(folder.resolve("job.yaml"), content).toString();
  }

  private void status(String status) throws IOException {
    terminal.status("digits", status);
  }

  @Tag("slow")
  @Test
  void helpOfEveryCommandHasAnExample() {
    for (String name : Kastor.commandLine().getSubcommands().keySet()) {
      if (!name.equals("help")) {
        Terminal.Result help = Terminal.runPlain(name, "--help");
        assertThat(help.code()).as(name).isZero();
        assertThat(help.out()).as(name).contains("Examples:").contains("kastor ");
      }
    }
  }

  @Tag("slow")
  @Test
  void refusesWhatItDoesNotKnow() {
    assertThat(Terminal.runPlain("lss").code()).isEqualTo(ExitCode.USAGE);
    assertThat(Terminal.runPlain("lss").err()).contains("Unmatched argument").contains("kastor ls");
    assertThat(Terminal.runPlain("up", "--slots", "0").err())
        .contains("--slots must be 1 to 256 but is 0");
    assertThat(Terminal.runPlain("up", "--devices", "0").err())
        .contains("--devices must be 1 to 256 but is 0");
    assertThat(Terminal.runPlain("up", "--policy", "best").err())
        .contains("there is no policy 'best'. Use one of: " + String.join(", ", Policies.names()));
    assertThat(Terminal.runPlain("up", "--policy", "kastor:hodl=3").err())
        .contains("policy kastor has no option 'hodl'. Use one of: hold, ");
    assertThat(Terminal.runPlain("demo", "--policy", "kastor:hold=0").err())
        .contains("hold must be a number above 0 but is '0'");
  }

  @Tag("slow")
  @Test
  void aWrongArgumentTakesTwoLinesAndNamesTheHelp() {
    assertThat(Terminal.runPlain("ls", "--nosuch").err().lines())
        .containsExactly("kastor: Unknown option: '--nosuch'", "Help: kastor ls --help");
    assertThat(Terminal.runPlain("ls", "-o", "bogus").err())
        .contains("expected json, yaml, wide or name but was 'bogus'");
    assertThat(Terminal.runPlain("lss").err()).contains("Did you mean: kastor ls");
  }

  @Tag("slow")
  @Test
  void helpShowsEachCommandUnderWhatItIsFor() {
    List<String> grouped = Kastor.GROUPS.values().stream().flatMap(List::stream).toList();
    assertThat(grouped).doesNotHaveDuplicates();
    assertThat(Set.copyOf(grouped))
        .isEqualTo(
            Kastor.commandLine().getSubcommands().values().stream()
                .map(CommandLine::getCommandName)
                .collect(Collectors.toSet()));
    String help = Terminal.runPlain("--help").out();
    assertThat(help).contains("Run:", "Look:", "Change:", "  submit  ").contains("Lists jobs");
    String ls = Terminal.runPlain("ls", "--help").out();
    assertThat(ls.indexOf("--kubeconfig=FILE  ")).isGreaterThan(ls.indexOf("Which cluster:"));
    assertThat(ls.indexOf("Which cluster:")).isGreaterThan(ls.indexOf("--output="));
  }

  @Tag("slow")
  @Test
  void submitsFilesAndFoldersAndTriesThem() throws IOException {
    Path jobs = Files.createDirectory(folder.resolve("jobs"));
    Files.writeString(jobs.resolve("a.yaml"), GOOD.replace("digits", "a"));
    Files.writeString(jobs.resolve("b.yml"), GOOD.replace("digits", "b"));
    Files.writeString(jobs.resolve("notes.txt"), "no job");
    assertThat(terminal.run("submit", jobs.toString(), "--dry-run").out().lines())
        .containsExactly("a would be accepted", "b would be accepted");
    assertThat(terminal.run("ls", "-o", "name").out()).isEmpty();
    assertThat(terminal.run("submit", jobs.toString()).out().lines())
        .containsExactly("submitted a", "submitted b");
    assertThat(terminal.run("submit", file(GOOD)).code()).isZero();
    assertThat(terminal.run("submit").err()).contains("which file?");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertThat(terminal.run("submit", empty.toString()).err()).contains("has no file *.yaml");
  }

  @Tag("slow")
  @Test
  void createsQueuesAndChangesThem() throws IOException {
    String queue =
        """
        apiVersion: kastor.dev/v1alpha1
        kind: Queue
        metadata: {name: research}
        spec: {weight: 2}
        """;
    String file = file(queue);
    assertThat(terminal.run("submit", file, "--dry-run").out())
        .isEqualTo("research would be accepted\n");
    assertThat(weight()).isNull();
    assertThat(terminal.run("submit", file).out()).isEqualTo("applied Queue research\n");
    assertThat(weight()).isEqualTo("2");
    assertThat(terminal.run("submit", file(queue.replace('2', '3'))).code()).isZero();
    assertThat(weight()).isEqualTo("3");
    assertThat(terminal.run("submit", file(queue.replace("weight", "wait"))).err())
        .contains("job.yaml:4: spec.wait: there is no such field");
    assertThat(terminal.run("submit", file(queue.replace("2", "-1"))).err())
        .contains("job.yaml:4: spec.weight: ");
  }

  @Tag("slow")
  @Test
  void keepsQueuesWithoutManifests() throws IOException {
    assertThat(terminal.run("queue", "set", "research", "--gpus", "8", "--weight", "2").out())
        .isEqualTo("queue research created\n");
    assertThat(terminal.run("queue", "set", "research", "--cohort", "lab").out())
        .isEqualTo("queue research changed\n");
    assertThat(queue("/quota/gpus")).isEqualTo("8");
    assertThat(weight()).isEqualTo("2.0");
    assertThat(queue("/cohort")).isEqualTo("lab");
    assertThat(terminal.run("queue", "set", "research").err()).contains("say what to change");
    assertThat(terminal.run("queue", "set", "research", "--weight", "-1").err()).contains("weight");
    assertThat(terminal.run("queue", "hold", "research").out()).contains("no job start");
    assertThat(queue("/stopPolicy")).isEqualTo("Hold");
    assertThat(terminal.run("queue", "set", "research", "--budget", "100.5/week").out())
        .isEqualTo("queue research changed\n");
    assertThat(queue("/budget/gpuHours")).isEqualTo("100.5");
    assertThat(queue("/budget/period")).isEqualTo("Week");
    assertThat(queue("/budget/onExceeded")).isEqualTo("Stop");
    terminal.run("queue", "set", "research", "--budget", "7/day", "--when-spent", "lower");
    assertThat(queue("/budget/onExceeded")).isEqualTo("LowerPriority");
    assertThat(terminal.run("queue", "set", "research", "--budget", "7").err())
        .contains("such as 100/week");
    assertThat(terminal.run("queue", "set", "research", "--when-spent", "stop").err())
        .contains("Add --budget");
    terminal.run("queue", "set", "research", "--budget", "none");
    assertThat(queue("/budget")).isEmpty();
    terminal.run("queue", "drain", "research");
    assertThat(queue("/stopPolicy")).isEqualTo("HoldAndDrain");
    terminal.run("queue", "resume", "research");
    assertThat(queue("/stopPolicy")).isEqualTo("None");
    assertThat(terminal.run("queue", "hold", "research", "--gpus", "1").err())
        .contains("only set takes --gpus");
    Terminal.Result none = terminal.run("queue", "hold", "reserch");
    assertThat(none.code()).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(none.err()).contains("there is no queue reserch", "kastor queue set reserch");

    assertThat(terminal.run("submit", file(GOOD)).code()).isZero();
    assertThat(terminal.run("queue", "move", "digits", "research").out())
        .isEqualTo("digits is a job of queue research\n");
    assertThat(terminal.run("get", "digits", "-o", "json").out())
        .containsPattern("\"queue\" ?: ?\"research\"");
    assertThat(terminal.run("queue", "move", "nosuch", "research").code())
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(terminal.run("queue", "rm", "research").out()).isEqualTo("queue research removed\n");
    assertThat(terminal.run("queue", "move", "digits", "research").out())
        .contains("there is no Queue of that name");
  }

  private @Nullable String weight() {
    return queue("/weight");
  }

  private @Nullable String queue(String field) {
    ObjectNode queue =
        terminal
            .server
            .resources()
            .find(
                new ResourceType("kastor.dev", "v1alpha1", "Queue", "queues", false, true),
                "",
                "research");
    return queue == null ? null : queue.at("/spec" + field).asText();
  }

  @Tag("slow")
  @Test
  void changesJobsByLabelOrAllOfThem() throws IOException {
    String labelled = GOOD.replace("{name: digits}", "{name: %s, labels: {sweep: \"%s\"}}");
    for (String name : List.of("a1", "a2", "b1")) {
      Path job = folder.resolve(name + ".yaml");
      Files.writeString(job, labelled.formatted(name, name.substring(0, 1)));
      assertThat(terminal.run("submit", job.toString()).code()).isZero();
    }
    assertThat(terminal.run("suspend", "-l", "sweep=a").out().lines()).hasSize(2);
    assertThat(terminal.run("rm", "-l", "sweep=b").out()).isEqualToIgnoringNewLines("removed b1");
    assertThat(terminal.run("rm", "a1", "--all").code()).isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("rm").err()).contains("say which jobs");
    assertThat(terminal.run("rm", "--all").out().lines())
        .containsExactly("removed a1", "removed a2");
    assertThat(terminal.run("rm", "--all").code()).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Tag("slow")
  @Test
  void printsACompletionScript() {
    assertThat(Terminal.runPlain("completion").out()).contains("complete").contains("describe");
  }

  @Test
  void saysThatNothingAnswers() throws IOException {
    terminal.server.close();
    Terminal.Result result = terminal.run("ls");
    assertThat(result.err()).contains("does not answer").doesNotContain("\tat ");
    assertThat(result.code()).isEqualTo(ExitCode.UNREACHABLE);
    Path bad = Files.writeString(folder.resolve("bad"), "clusters: [");
    assertThat(Terminal.runPlain("ls", "--kubeconfig", bad.toString()).code())
        .isEqualTo(ExitCode.UNREACHABLE);
  }

  @Tag("slow")
  @Test
  void submitsListsDescribesAndRemoves() throws IOException {
    Terminal.Result submitted = terminal.run("submit", "-f", file(GOOD));
    assertThat(submitted.err()).isEmpty();
    assertThat(submitted.out()).isEqualTo("submitted digits" + System.lineSeparator());
    status(
        """
        phase: Running
        allocation:
          {replicas: 2, nodes: {local: 2}, version: 3, since: "2026-01-01T00:00:00Z",
           reason: Grow, message: two slots were free}
        training:
          {step: 100, scaleInvariantMillisteps: 90000, percent: 37, examples: 6400, epoch: 3,
           globalBatch: 128, atomicBatch: 64, accumulationSteps: 0, goodput: 950.5,
           throughput: 1000.0, efficiency: 0.95, noiseScale: 800.0, loss: 0.25,
           predictedGoodput: {"1": 500.0, "2": 950.5}, rescales: 1, grows: 1, shrinks: 0,
           medianPauseMillis: 42, maxPauseMillis: 42, minReplicas: 1, maxReplicas: 2,
           minGlobalBatch: 64, maxGlobalBatch: 128, mostExamples: {"t4": 64}}
        clients: ["kastor-python/0.1 protocol/2", "mine/3"]
        """);
    assertThat(terminal.run("ls").out().lines().toList().getLast())
        .matches("digits +Running +2/1-4 +128 +37% +95[01] +0.250 +1 +- +\\d+s +-");
    assertThat(terminal.run("describe", "digits").out())
        .contains("Replicas:     2 (may have 1 to 4): 2 on local")
        .contains("Why:          Grow: two slots were free")
        .contains("Batch:        128 = replicas x 64 x (0 + 1); between 64 and 128 so far")
        .contains("throughput 1000 x efficiency 0.950; noise scale 800 examples")
        .contains("goodput by replicas 1: 500, 2: 95")
        .contains("Memory:       fits examples a pass: 64 on t4")
        .contains("Clients:      kastor-python/0.1 protocol/2; mine/3")
        .contains("Rescales:     1 (1 up, 0 down), pause median 42 ms, longest 42 ms");
    JsonNode list = new ObjectMapper().readTree(terminal.run("ls", "--json").out());
    assertThat(list.at("/jobs/0/globalBatch").asInt()).isEqualTo(128);
    JsonNode raw = new ObjectMapper().readTree(terminal.run("get", "digits", "-o", "json").out());
    assertThat(raw.at("/spec/elastic/minReplicas").asInt()).isEqualTo(1);
    assertThat(terminal.run("get", "digits").out()).contains("kind: TrainingJob");
    assertThat(terminal.run("rm", "digits").out()).contains("removed digits");
    assertThat(terminal.run("describe", "digits").code()).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Tag("slow")
  @Test
  void showsTheAdviceOnNodesWhereThereIsAny() throws IOException {
    terminal.run("submit", "-f", file(GOOD));
    assertThat(terminal.run("ls").out()).doesNotContain("advice");
    Config config = Config.fromKubeconfig(Files.readString(folder.resolve("kubeconfig")));
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      client
          .configMaps()
          .resource(
              new ConfigMapBuilder()
                  .withNewMetadata()
                  .withName("kastor-advice")
                  .withNamespace("kastor-system")
                  .addToLabels("app.kubernetes.io/managed-by", "kastor")
                  .endMetadata()
                  .addToData("t4", "2 nodes of type t4 should become 3.")
                  .build())
          .create();
    }
    String line = "advice: 2 nodes of type t4 should become 3.";
    assertThat(terminal.run("ls").out().lines().toList().getLast()).isEqualTo(line);
    assertThat(terminal.run("top", "--once").out().lines().toList().getLast()).isEqualTo(line);
    assertThat(terminal.run("top", "--once", "-n", "default").out()).contains("digits");
    assertThat(terminal.run("top", "--once", "-n", "other").out()).doesNotContain("digits");
    JsonNode list = new ObjectMapper().readTree(terminal.run("ls", "--json").out());
    assertThat(list.at("/advice/0").asText()).contains("should become 3");
  }

  @Tag("slow")
  @Test
  void suspendsAndResumes() throws IOException {
    terminal.run("submit", "-f", file(GOOD));
    assertThat(terminal.run("suspend", "digits").code()).isZero();
    assertThat(terminal.run("get", "digits").out()).contains("suspend: true");
    status("phase: Suspended");
    assertThat(terminal.run("stop", "digits").out()).contains("digits stopped");
    assertThat(terminal.run("resume", "digits").out()).contains("digits goes on");
    assertThat(terminal.run("get", "digits").out()).contains("suspend: false");
    status("phase: Succeeded");
    Terminal.Result late = terminal.run("suspend", "digits");
    assertThat(late.code()).isEqualTo(ExitCode.FAILED);
    assertThat(late.err()).contains("has ended (Succeeded)");
  }

  @Tag("slow")
  @Test
  void waitsForTheEndAndTellsHowItWas() throws Exception {
    String file = file(GOOD);
    CompletableFuture<Terminal.Result> waiting =
        CompletableFuture.supplyAsync(() -> terminal.run("submit", "-f", file, "--wait"));
    long end = System.nanoTime() + Duration.ofMinutes(10).toNanos();
    while (terminal.run("get", "digits").code() != ExitCode.OK) {
      assertThat(System.nanoTime()).isLessThan(end);
    }
    status("phase: Failed");
    Terminal.Result result = waiting.get();
    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.out()).contains("digits: Failed");
    assertThat(terminal.run("submit", "-f", file).err())
        .contains(file + ":3: job digits exists already");
  }

  @Test
  void namesFileLineAndFieldOfWhatTheServerRefuses() throws IOException {
    String file = file(GOOD.replace("maxReplicas: 4", "minReplicas: 1\n    maxReplicas: 5000"));
    Terminal.Result result = terminal.run("submit", "-f", file);
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .contains(file + ":8: spec.elastic.maxReplicas: Invalid value: 5000")
        .contains("less than or equal to 4096");
  }

  @Test
  void namesFileAndLineOfAnUnknownField() throws IOException {
    String file = file(GOOD.replace("maxReplicas: 4", "maxReplica: 4"));
    assertThat(terminal.run("submit", "-f", file).err())
        .contains(
            file
                + ":7: spec.elastic.maxReplica: there is no such field. Did you mean maxReplicas?");
  }

  @Test
  void relaysTheMessageOfARule() throws IOException {
    String file = file(GOOD.replace("work: {epochs: 10}", "work: {epochs: 10, steps: 5}"));
    assertThat(terminal.run("submit", "-f", file).err())
        .contains(file + ":11: spec.goodput.work: ")
        .contains("work needs exactly one of epochs, examples and steps");
  }

  @Tag("slow")
  @Test
  void namesTheFieldThatIsMissing() throws IOException {
    String file = file(GOOD.replace("    work: {epochs: 10}\n", ""));
    assertThat(terminal.run("submit", "-f", file).err())
        .contains(file + ":8: spec.goodput.work: Required value");
  }

  @Tag("slow")
  @Test
  void namesThePlaceOfBrokenYaml() throws IOException {
    String file = file("apiVersion: kastor.dev/v1alpha1\nkind: [TrainingJob\nmetadata: {}\n");
    assertThat(terminal.run("submit", "-f", file).err())
        .contains(file + ":3:")
        .contains("not valid YAML");
    assertThat(terminal.run("submit", "-f", file("kind: Pod\napiVersion: v1\n")).err())
        .contains(
            "job.yaml:1: kind: is Pod but must be one of TrainingJob, Queue, ClusterTrainingProfile");
    assertThat(terminal.run("submit", "-f", file("\n")).err()).contains("is empty");
    assertThat(terminal.run("submit", "-f", folder.resolve("none.yaml").toString()).err())
        .contains("none.yaml: does not exist");
  }

  @Tag("slow")
  @Test
  void submitsNothingWhenOneOfSeveralIsRefused() throws IOException {
    String bad = GOOD.replace("digits", "other").replace("\"0.05\"", "fast");
    Terminal.Result result = terminal.run("submit", "-f", file(GOOD + "---\n" + bad));
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(":22: spec.goodput.learningRate.base");
    assertThat(terminal.run("ls").out()).contains("no jobs");
  }
}
