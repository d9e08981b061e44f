package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.Note;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AnnotatingTest {
  @TempDir Path folder;
  private Terminal terminal;
  private Path file;

  @BeforeEach
  void submit() throws IOException {
    terminal = new Terminal(folder);
    file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    assertThat(terminal.run("submit", file.toString()).code()).isZero();
  }

  @AfterEach
  void close() {
    terminal.close();
  }

  @Tag("slow")
  @Test
  void aNoteIsWrittenShownAndRemoved() throws IOException {
    assertThat(terminal.run("note", "digits").out()).isEqualTo("digits has no note\n");
    assertThat(terminal.run("note", "digits", "warm-up of 2000 steps;", "loss \"jumps\"").out())
        .isEqualTo("digits: warm-up of 2000 steps; loss \"jumps\"\n");
    assertThat(terminal.run("note", "digits").out())
        .isEqualTo("warm-up of 2000 steps; loss \"jumps\"\n");
    assertThat(terminal.run("describe", "digits").out())
        .containsPattern("Note: +warm-up of 2000 steps; loss \"jumps\"");
    assertThat(terminal.run("compare-runs", "digits", "digits").out())
        .contains("note of digits: warm-up of 2000 steps");
    assertThat(terminal.run("ls", "-o", "json").out()).contains("\"note\"");
    assertThat(terminal.run("note", "digits", "").code()).isZero();
    assertThat(annotations()).doesNotContainKey(Note.ANNOTATION);
    assertThat(terminal.run("describe", "digits").out()).doesNotContain("Note:");
  }

  @Tag("slow")
  @Test
  void aNoteIsOneLineThatCanBePrintedAndBounded() throws IOException {
    assertThat(terminal.run("note", "digits", " two\nlines \u001b[31mred\u202e ").code()).isZero();
    assertThat(annotations()).containsEntry(Note.ANNOTATION, "two lines \ufffd[31mred\ufffd");
    assertThat(terminal.run("note", "digits", "ü".repeat(1000)).code()).isZero();
    Terminal.Result longer = terminal.run("note", "digits", "ü".repeat(1001));
    assertThat(longer.code()).isEqualTo(ExitCode.USAGE);
    assertThat(longer.err()).contains("at most 1000 characters, but this one 1001");
    assertThat(annotations()).containsEntry(Note.ANNOTATION, "ü".repeat(1000));
  }

  @Tag("slow")
  @Test
  void whatAnotherToolWroteIsShownWithinTheBound() throws IOException {
    try (var client = new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      client
          .resources(TrainingJob.class)
          .inNamespace("default")
          .withName("digits")
          .edit(job -> {
            job.getMetadata().setAnnotations(Map.of(Note.ANNOTATION, "a\nb" + "x".repeat(5000)));
            return job;
          });
    }
    assertThat(terminal.run("note", "digits").out()).startsWith("a b").hasSize(1002).contains("…");
  }

  @Tag("slow")
  @Test
  void tagsAreSetRemovedAndChosenBy() throws IOException {
    assertThat(terminal.run("tag", "digits").out()).isEqualTo("digits has no tags\n");
    assertThat(terminal.run("tag", "digits", "sweep=lr", "lab.example/best=").out())
        .isEqualTo("digits: lab.example/best= sweep=lr\n");
    assertThat(terminal.run("ls", "-l", "sweep=lr").out()).contains("digits");
    assertThat(terminal.run("ls", "-l", "sweep=batch").out()).contains("no jobs with sweep=batch");
    assertThat(terminal.run("ls", "-A", "-l", "sweep=lr", "-o", "name").out()).contains("digits");
    assertThat(terminal.run("describe", "digits").out())
        .containsPattern("Tags: +lab.example/best=, sweep=lr");
    assertThat(terminal.run("tag", "digits", "lab.example/best-", "sweep=batch").out())
        .isEqualTo("digits: sweep=batch\n");
    assertThat(terminal.run("tag", "nobody", "a=b").code()).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(
      strings = {"lr", "=lr", "a b=c", "a=b c", "kastor.dev/job=x", "kastor.dev/job-", "-"})
  void tagsThatNoLabelCanBeAreRefused(String tag) throws IOException {
    Terminal.Result refused = terminal.run("tag", "digits", "fine=1", "--", tag);
    assertThat(refused.code()).as(refused.out()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err()).contains("tag " + tag + ": ");
    assertThat(terminal.run("tag", "digits").out()).isEqualTo("digits has no tags\n");
  }

  @Tag("slow")
  @Test
  void bothCanBeGivenWithTheJob() throws IOException {
    Files.writeString(file, Terminal.JOB.replace("name: digits", "name: next, labels: {a: b}"));
    assertThat(
            terminal
                .run("submit", file.toString(), "--note", "try\tit", "--tag", "a=c", "--tag", "d=e")
                .code())
        .isZero();
    assertThat(terminal.run("note", "next").out()).isEqualTo("try it\n");
    assertThat(terminal.run("tag", "next").out()).isEqualTo("next: a=c d=e\n");
    var shown =
        Terminal.runPlain(
            "run", "--note", "first", "--tag", "a=b", "--dry-run", "--", "sh", "-c", "true");
    assertThat(shown.out()).contains("kastor.dev/note: first").contains("a: b");
    assertThat(Terminal.runPlain("run", "--tag", "a", "--dry-run", "--", "sh", "-c", "true").err())
        .contains("tag a: must be KEY=VALUE");
  }

  private Map<String, String> annotations() throws IOException {
    try (var client = new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      Map<String, String> found =
          client
              .resources(TrainingJob.class)
              .inNamespace("default")
              .withName("digits")
              .get()
              .getMetadata()
              .getAnnotations();
      return found == null ? Map.of() : found;
    }
  }
}
