package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorShell;
import dev.kastor.cli.KastorShell.Result;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs with wrong programs, parameters and data, submitted to the cluster of this machine. */
final class SubmitCheckIT {
  private static final String JOB =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: table}
      spec:
        program:
          name: table-wide-deep
          parameters:
            data: data/t.csv
            labelColumn: klass
            hidden: 8
        goodput:
          batchSize:
            initial: 16
          learningRate: {base: 0.010}
          work: {epochs: 1}
      """;

  @TempDir private static Path home;
  @TempDir private static Path folder;
  private static KastorShell shell;
  private Terminal terminal;

  @BeforeAll
  static void open() {
    shell = new KastorShell(home, folder);
  }

  @AfterAll
  static void close() {
    shell.close();
  }

  @BeforeEach
  void start() throws IOException {
    Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
    // Its kubeconfig is where that of the cluster of this machine is.
    terminal = new Terminal(home);
    Path data = Files.createDirectories(folder.resolve("data"));
    Files.writeString(data.resolve("t.csv"), "age;klass\n" + "1;a\n2;b\n".repeat(20));
  }

  @AfterEach
  void stop() {
    terminal.close();
  }

  private Result submit(String job, String... options) throws IOException {
    Files.writeString(folder.resolve("job.yaml"), job);
    List<String> arguments = new ArrayList<>(List.of("submit", "job.yaml"));
    arguments.addAll(List.of(options));
    return shell.run(arguments.toArray(String[]::new));
  }

  private List<TrainingJob> stored() throws IOException {
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      return client.resources(TrainingJob.class).inAnyNamespace().list().getItems();
    }
  }

  private void refused(String job, String... words) throws Exception {
    for (String[] options : new String[][] {{}, {"--dry-run"}}) {
      Result result = submit(job, options);
      assertThat(result.code()).as(result.text()).isEqualTo(ExitCode.USAGE);
      assertThat(result.text()).contains(words).contains("--no-check submits it all the same");
      assertThat(stored()).isEmpty();
    }
  }

  @Test
  void featuresOfTrainingAreCheckedLikeParameters() throws Exception {
    String job = JOB + "  training: {passes: {tableProduct: off}}\n";
    refused(job, "job.yaml:16: spec.training: ", "no graph pass 'tableProduct'", "tableProducts");
    refused(JOB + "  training: {gradients: [clip: {norm: 1.0}]}\n", "no gradient stage 'clip'");
    refused(JOB + "  training: {codec: bf17}\n", "no gradient codec 'bf17'", "Did you mean bf16?");
    refused(JOB + "  training: {select: backdrop}\n", "example selector 'backdrop'", "backprop?");
    refused(JOB + "  training: {tune: platau}\n", "no tuner 'platau'", "Did you mean plateau?");
    refused(JOB + "  training: {sync: locale}\n", "no sync policy 'locale'", "Did you mean local?");
    refused(JOB + "  training: {collective: nncl}\n", "no collective 'nncl'", "Did you mean nccl?");
    refused(
        JOB + "  training: {collective: hierarchical, codec: bf16}\n",
        "codec bf16 and collective hierarchical make no sense together");
    refused(JOB + "  training: {updates: [maxnorm]}\n", "no update stage 'maxnorm'", "max-norm?");
    assertThat(submit(JOB + "  training: {passes: {tableProducts: off}}\n").code())
        .isEqualTo(ExitCode.OK);
    assertThat(stored().getFirst().getSpec().training())
        .isEqualTo(Map.of("passes", Map.of("tableProducts", false)));
  }

  @Test
  void aGoodJobGetsInWithThePathOfItsDataAndTextsWhereTextsBelong() throws Exception {
    assertThat(submit(JOB, "--dry-run"))
        .isEqualTo(new Result(ExitCode.OK, "table would be accepted\n"));
    assertThat(stored()).isEmpty();
    assertThat(submit(JOB)).isEqualTo(new Result(ExitCode.OK, "submitted table\n"));
    TrainingJob job = stored().getFirst();
    assertThat(job.getSpec().programOrThrow().parameters())
        .isEqualTo(
            Map.of(
                "data",
                folder.toRealPath().resolve("data/t.csv").toString(),
                "labelColumn",
                "klass",
                "hidden",
                "8"));
    assertThat(Objects.requireNonNull(job.getSpec().goodputOrThrow().learningRate()).base())
        .isEqualTo("0.010");
  }

  @Test
  void allThatIsWrongIsToldWithFileLineAndField() throws Exception {
    refused(
        JOB.replace("table-wide-deep", "table-wide-depe"),
        "job.yaml:6: spec.program.name: there is no program 'table-wide-depe'. Use one of: glyph-mlp",
        "Did you mean table-wide-deep?");
    refused(
        JOB.replace("hidden: 8", "hidden: many\n      bucket: 3"),
        "job.yaml:10: spec.program.parameters.hidden: must be a whole number from 1 to 65536 but is"
            + " 'many'.",
        "job.yaml:11: spec.program.parameters.bucket: ",
        "Did you mean buckets?");
    refused(
        JOB.replace("labelColumn: klass", "labelColumn: class"),
        "job.yaml:9: spec.program.parameters.labelColumn: ",
        "data/t.csv: no column is called 'class'; the header has: age, klass. Did you mean klass?");
    refused(
        JOB.replace("data/t.csv", "data/u.csv"),
        "job.yaml:8: spec.program.parameters.data: %s/data/u.csv: cannot be read (there is no such file)"
            .formatted(folder.toRealPath()));
    refused(
        JOB.replace("initial: 16", "initial: 64"),
        "job.yaml:13: spec.goodput.batchSize.initial: 64 is above the number of training examples,"
            + " which is at most 36. Lower it, or give more data");
  }

  @Test
  void ofTwoJobsTheGoodOneIsNotStoredEither() throws Exception {
    refused(
        JOB + "---\n" + JOB.replace("name: table}", "name: other}").replace("t.csv", "u.csv"),
        "job.yaml:24: spec.program.parameters.data: ");
  }

  @Test
  void aBatchThatMayGrowBeyondTheDataIsTold() throws Exception {
    Result result = submit(JOB.replace("initial: 16", "initial: 16\n      max: 64"));
    assertThat(result.code()).isEqualTo(ExitCode.OK);
    assertThat(result.text())
        .contains("job.yaml:14: spec.goodput.batchSize.max: 64 is above the number of training")
        .contains("submitted table");
  }

  @Test
  void aTemplateIsSaidToRunWithoutItsImage() throws Exception {
    String template =
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: own}
        spec:
          template:
            spec:
              containers: [{name: main, image: "example/own:1", command: [sleep, "1"]}]
        """;
    Result result = submit(template);
    assertThat(result.code()).as(result.text()).isEqualTo(ExitCode.OK);
    assertThat(result.text())
        .contains("job.yaml:5: spec.template: local mode runs the command on this machine")
        .contains("submitted own");
    assertThat(stored()).hasSize(1);
  }

  @Test
  void whoeverKnowsBetterGetsItIn() throws Exception {
    String elsewhere = JOB.replace("table-wide-deep", "of-a-jar-to-come");
    Result result = submit(elsewhere, "--no-check");
    assertThat(result).isEqualTo(new Result(ExitCode.OK, "submitted table\n"));
    assertThat(stored().getFirst().getSpec().programOrThrow().parameters())
        .containsEntry("data", "data/t.csv");
  }

  @Test
  void ofAnotherClusterNothingIsKnown() throws Exception {
    Terminal.Result result =
        terminal.run(
            "submit",
            Files.writeString(
                    folder.resolve("job.yaml"), JOB.replace("table-wide-deep", "of-its-image"))
                .toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    assertThat(stored().getFirst().getSpec().programOrThrow().parameters())
        .containsEntry("data", "data/t.csv");
  }
}
