package dev.kastor.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MetricsTest {
  private static final String PATH = "/api/v1/jobs/default/digits/history";

  /** Two reports, with an accuracy in the second; times in ms since 1970. */
  private static final String TWO =
      history("1000, 2000", "10, 20", "2.5, 0.5", "0.9", "2000", "20");

  /** The operator has forgotten the first report and heard a third one. */
  private static final String LATER =
      history("2000, 3000", "20, 30", "0.5, null", "0.9, 0.95", "2000, 3000", "20, 30");

  @TempDir private Path folder = Path.of("");
  private Terminal terminal;
  private FakeOperator operator;

  private static String history(
      String at, String steps, String losses, String accuracy, String accuracyAt, String of) {
    return """
    {"namespace": "default", "name": "digits",
     "series": {"epochMillis": [%s], "step": [%s], "loss": [%s], "throughput": [],
                "goodput": [], "efficiency": [], "stepsPerSecond": [], "noiseScale": [],
                "learningRate": [0.0005], "globalBatch": [], "replicas": [4, 8]},
     "scalars": {"val/acc": {"value": [%s], "epochMillis": [%s], "step": [%s]}},
     "timeline": []}
    """
        .formatted(at, steps, losses, accuracy, accuracyAt, of);
  }

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(folder);
    operator = new FakeOperator();
    Path file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    assertThat(terminal.run("submit", "-f", file.toString()).code()).isZero();
  }

  @AfterEach
  void stop() {
    operator.close();
    terminal.close();
  }

  private Terminal.Result metrics(String... arguments) {
    List<String> all = new ArrayList<>(List.of("digits", "--operator", operator.url()));
    all.addAll(List.of(arguments));
    return terminal.run("metrics", all.toArray(String[]::new));
  }

  @Tag("slow")
  @Test
  void sumsUpEachSeries() {
    assertThat(metrics().out()).contains("nothing was measured yet");
    operator.answer(PATH, TWO);

    assertThat(metrics().out().lines())
        .containsExactly(
            "SERIES                     LAST  STEP      LEAST       MOST  POINTS",
            "kastor/learning_rate  0.0005000    10  0.0005000  0.0005000       1",
            "kastor/replicas               8    20          4          8       2",
            "loss                     0.5000    20     0.5000      2.500       2",
            "val/acc                  0.9000    20     0.9000     0.9000       1");
  }

  @Tag("slow")
  @Test
  void printsPointsInOrderOfTime() {
    operator.answer(PATH, TWO);

    assertThat(metrics("-o", "csv").out().lines())
        .containsExactly(
            "time,step,name,value",
            "1970-01-01T00:00:01Z,10,kastor/learning_rate,5.0E-4",
            "1970-01-01T00:00:01Z,10,kastor/replicas,4.0",
            "1970-01-01T00:00:01Z,10,loss,2.5",
            "1970-01-01T00:00:02Z,20,kastor/replicas,8.0",
            "1970-01-01T00:00:02Z,20,loss,0.5",
            "1970-01-01T00:00:02Z,20,val/acc,0.9");
    assertThat(metrics("-o", "json").out().lines())
        .hasSize(6)
        .endsWith(
            "{\"time\":\"1970-01-01T00:00:02Z\",\"step\":20,\"name\":\"val/acc\",\"value\":0.9}");
  }

  @Tag("slow")
  @Test
  void aFileKeepsWhatTheOperatorForgot() throws Exception {
    operator.answer(PATH, TWO);
    String runs = folder.resolve("runs").toString();
    for (String format : List.of("csv", "json", "tensorboard")) {
      assertThat(metrics("-o", format, "--out", runs).out()).startsWith("6 points added to");
      assertThat(metrics("-o", format, "--out", runs).out()).startsWith("0 points added to");
    }
    operator.answer(PATH, LATER);
    for (String format : List.of("csv", "json", "tensorboard")) {
      assertThat(metrics("-o", format, "--out", runs).out()).startsWith("3 points added to");
    }

    assertThat(Files.readAllLines(only(".csv")))
        .hasSize(10)
        .endsWith(
            "1970-01-01T00:00:03Z,30,kastor/replicas,8.0", "1970-01-01T00:00:03Z,30,val/acc,0.95");
    Path events = only(".kastor");
    assertThat(folder.resolve("runs").relativize(events).toString())
        .matches("default/digits-[0-9]{8}-[0-9]{6}/events\\.out\\.tfevents\\.[0-9]+\\.kastor");
    List<Point> found = new ArrayList<>();
    try (var in = Files.newInputStream(events)) {
      MetricsOutput.TENSORBOARD.format(Instant.EPOCH).read(in, found::add);
    }
    assertThat(found)
        .hasSize(9)
        .contains(new Point("loss", 1000, 10, 2.5), new Point("val/acc", 3000, 30, 0.95f));
  }

  @Tag("slow")
  @Test
  void aRecordThatWasCutOffIsWrittenAgain() throws IOException {
    operator.answer(PATH, TWO);
    String runs = folder.resolve("runs").toString();
    metrics("-o", "csv", "--out", runs);
    Path csv = only(".csv");
    List<String> whole = Files.readAllLines(csv);
    Files.writeString(csv, Files.readString(csv).substring(0, (int) Files.size(csv) - 5));

    assertThat(metrics("-o", "csv", "--out", runs).out()).startsWith("1 points added to");
    assertThat(Files.readAllLines(csv)).isEqualTo(whole);
  }

  @Tag("slow")
  @Test
  void aFileOfAnotherKindStaysAsItIs() throws IOException {
    operator.answer(PATH, TWO);
    String runs = folder.resolve("runs").toString();
    metrics("-o", "csv", "--out", runs);
    Path csv = only(".csv");
    Files.writeString(csv, "notes of mine\nand more\n");

    Terminal.Result refused = metrics("-o", "csv", "--out", runs);

    assertThat(refused.code()).isEqualTo(ExitCode.FAILED);
    assertThat(refused.err()).contains("cannot be continued").contains("Move it away");
    assertThat(csv).hasContent("notes of mine\nand more\n");
  }

  @Tag("slow")
  @Test
  void twoDoNotWriteOneFile() throws IOException {
    operator.answer(PATH, TWO);
    String runs = folder.resolve("runs").toString();
    metrics("-o", "json", "--out", runs);
    Path json = only(".jsonl");
    try (PointFile open = PointFile.open(json, MetricsOutput.JSON.format(Instant.EPOCH))) {
      Terminal.Result refused = metrics("-o", "json", "--out", runs);
      assertThat(refused.code()).isEqualTo(ExitCode.FAILED);
      assertThat(refused.err()).contains("is being written by another kastor metrics");
      assertThat(open.path()).isEqualTo(json);
    }
  }

  @Tag("slow")
  @Test
  void aFolderThatCannotBeMadeIsAnError() throws IOException {
    operator.answer(PATH, TWO);
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThat(metrics("-o", "csv", "--out", file.toString()).code()).isEqualTo(ExitCode.FAILED);
    assertThat(metrics("-o", "csv", "--out", file.toString()).err()).contains(file.toString());
  }

  @Test
  @Tag("slow")
  void watchesUntilTheJobEnds() throws Exception {
    operator.answer(PATH, TWO);
    String runs = folder.resolve("runs").toString();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Terminal.Result> watch =
          threads.submit(() -> metrics("-o", "csv", "--out", runs, "--watch"));
      await(() -> !watch.isDone() && lines() == 7);
      operator.answer(PATH, LATER);
      await(() -> !watch.isDone() && lines() == 10);
      terminal.status("digits", "{phase: Succeeded, completionTime: \"2026-01-01T00:00:00Z\"}");

      assertThat(watch.get().out()).startsWith("9 points added to");
    }
    assertThat(metrics("-o", "csv", "--watch").out().lines()).hasSize(7);
  }

  private static void await(BooleanSupplier holds) throws InterruptedException {
    while (!holds.getAsBoolean()) {
      Thread.sleep(Duration.ofMillis(20));
    }
  }

  private long lines() {
    try (Stream<Path> files = Files.walk(folder)) {
      Optional<Path> csv = files.filter(file -> file.toString().endsWith(".csv")).findAny();
      return csv.isEmpty() ? 0 : Files.readString(csv.get()).lines().count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Tag("slow")
  @Test
  void saysWhatIsWrong() {
    assertThat(metrics("-o", "tensorboard").code()).isEqualTo(ExitCode.USAGE);
    assertThat(metrics("-o", "tensorboard").err()).contains("--out DIR");
    assertThat(metrics("--out", folder.toString()).err()).contains("Add -o csv");
    assertThat(metrics("--watch").code()).isEqualTo(ExitCode.USAGE);
    assertThat(metrics("-o", "xml").code()).isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("metrics", "none").code()).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(terminal.run("metrics", "digits").code()).isEqualTo(ExitCode.FAILED);
    assertThat(terminal.run("metrics", "digits").err()).contains("operator");
    operator.answer(PATH, "{\"series\": {\"epochMillis\": [1], \"loss\": [1]}, \"timeline\": []}");
    assertThat(metrics().err()).contains("the operator is older than this command");
  }

  private Path only(String ending) {
    try (Stream<Path> files = Files.walk(folder.resolve("runs"))) {
      return files.filter(file -> file.toString().endsWith(ending)).findAny().orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
