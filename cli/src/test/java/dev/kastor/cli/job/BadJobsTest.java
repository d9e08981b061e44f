package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The bad TrainingJobs of {@code crds/src/test/resources/bad}: none gets in, and each answer names
 * what is wrong and where.
 *
 * <p>The first line of each file has what the answer must contain. The next may say {@code by:} who
 * refuses where it is not the API server's schema: {@code reader}, before anything is sent; {@code
 * change}, against a good job of the same name; {@code operator}, by a condition; {@code kubectl},
 * the schema, though the command mends it.
 */
@Tag("slow")
final class BadJobsTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("kastor.root", ".."), "crds", "src", "test", "resources");

  /** Mistakes of a file as a whole. */
  private static final Set<String> NO_ONE_PLACE =
      Set.of("text-empty.yaml", "text-not-utf-8.yaml", "text-anchor-bomb.yaml");

  @TempDir Path home;
  private Terminal terminal;

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(home);
  }

  @AfterEach
  void stop() {
    terminal.close();
  }

  static List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(FOLDER.resolve("bad"))) {
      return all.sorted().toList();
    }
  }

  static List<Path> refused() throws IOException {
    return files().stream()
        .filter(file -> !List.of("change", "operator", "kubectl").contains(by(file)))
        .toList();
  }

  static List<Path> changes() throws IOException {
    return files().stream().filter(file -> by(file).equals("change")).toList();
  }

  @Test
  void thereAreManyAndTheGoodOneIsGood() throws IOException {
    assertThat(files()).hasSizeGreaterThan(40);
    Terminal.Result good = terminal.run("submit", "-f", FOLDER.resolve("good.yaml").toString());
    assertThat(good.err()).isEmpty();
    assertThat(good.code()).isEqualTo(ExitCode.OK);
  }

  @ParameterizedTest
  @MethodSource("refused")
  void isRefusedWithFileAndLine(Path file) throws IOException {
    Terminal.Result result = terminal.run("submit", "-f", file.toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains(expected(file)).contains(file.getFileName().toString());
    if (!NO_ONE_PLACE.contains(name(file))) {
      assertThat(result.err()).containsPattern("\\.yaml:\\d+");
    }
    assertThat(stored()).as("nothing got in, not even a good document beside it").isEmpty();
  }

  static List<Path> mended() throws IOException {
    return files().stream().filter(file -> by(file).equals("kubectl")).toList();
  }

  @ParameterizedTest
  @MethodSource("mended")
  void numbersAreTextsWhereTextsBelong(Path file) throws IOException {
    Map<?, ?> written = Serialization.unmarshal(Files.readString(file), Map.class);
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      assertThatThrownBy(() -> client.resource(Serialization.asYaml(written)).dryRun().create())
          .hasMessageContaining(expected(file))
          .hasMessageContaining("must be of type string");
    }
    Terminal.Result result = terminal.run("submit", file.toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    TrainingJob stored = (TrainingJob) stored().getFirst();
    assertThat(Objects.requireNonNull(stored.getSpec().goodputOrThrow().learningRate()).base())
        .isEqualTo("0.05");
    assertThat(stored.getSpec().programOrThrow().parameters())
        .isIn(null, Map.of(), Map.of("hidden", "64"));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void whatIsFixedCannotBeChanged(Path file) throws IOException {
    terminal.run("submit", "-f", FOLDER.resolve("good.yaml").toString());
    Map<?, ?> changed = Serialization.unmarshal(Files.readString(file), Map.class);
    String patch = Serialization.asJson(Map.of("spec", changed.get("spec")));
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      var job = client.resources(TrainingJob.class).inNamespace("default").withName("bad");
      var before = job.get().getSpec();
      assertThatThrownBy(() -> job.patch(PatchContext.of(PatchType.JSON_MERGE), patch))
          .hasMessageContaining(expected(file))
          .hasMessageContaining("cannot change");
      assertThat(job.get().getSpec()).isEqualTo(before);
    }
  }

  private List<?> stored() throws IOException {
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
      return client.resources(TrainingJob.class).inAnyNamespace().list().getItems();
    }
  }

  private static String expected(Path file) {
    return line(file, 0).substring("# expect: ".length());
  }

  private static String by(Path file) {
    String second = line(file, 1);
    return second.startsWith("# by: ") ? second.substring("# by: ".length()) : "schema";
  }

  private static String line(Path file, int number) {
    try {
      // One of the files is no text.
      return Files.readAllLines(file, StandardCharsets.ISO_8859_1).get(number);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static String name(Path file) {
    return file.getFileName().toString();
  }
}
