package dev.kastor.local.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SpareKindTest {
  private static final Path FOLDER = Path.of("/pods/1");
  private static final Map<String, String> OF_A_POD =
      Map.of("KASTOR_POD", "a-0", "KASTOR_JOB_SPEC", "{}", "KASTOR_THREADS", "2");

  @TempDir private Path work;

  @BeforeEach
  void write() throws IOException {
    for (String script : List.of("a.py", "b.py", "train.py")) {
      Files.writeString(work.resolve(script), "print(1)\n");
    }
  }

  private static PodCommand pod(
      String namespace,
      boolean ofImage,
      Path workingDirectory,
      Map<String, String> environment,
      String... line) {
    return new PodCommand(
        namespace,
        ofImage,
        List.of(line),
        environment,
        FOLDER,
        workingDirectory,
        Path.of("/logs/a"),
        FOLDER.resolve("end"));
  }

  private Optional<SpareKind> python(Map<String, String> environment, String... line) {
    return SpareKind.of(pod("default", false, work, environment, line));
  }

  @Test
  void anAgentWaitsWithWhatItsEngineReadsAlone() {
    PodCommand pod = pod("default", true, FOLDER, OF_A_POD, "java", "Agent");

    assertThat(SpareKind.of(pod))
        .contains(
            new SpareKind(
                "default",
                List.of("java", "Agent"),
                Map.of("KASTOR_THREADS", "2"),
                Optional.empty()));
    assertThat(SpareKind.arguments(pod)).isEmpty();
  }

  @Test
  void anAgentThatIsToRunInAnotherFolderOrHasAGpuDoesNotWait() {
    assertThat(SpareKind.of(pod("default", true, work, OF_A_POD, "java"))).isEmpty();
    assertThat(
            SpareKind.of(pod("default", true, FOLDER, Map.of("CUDA_VISIBLE_DEVICES", "1"), "java")))
        .isEmpty();
  }

  @Test
  void anInterpreterWaitsWithTheVariablesAndTheFolderOfTheUser() {
    Map<String, String> environment =
        Map.of("KASTOR_POD", "a-0", "PYTHONPATH", "lib", "CUDA_VISIBLE_DEVICES", "3");
    PodCommand pod =
        pod("default", false, work, environment, "/env/bin/python3", "-u", "a.py", "-x");

    assertThat(SpareKind.of(pod))
        .contains(
            new SpareKind(
                "default",
                List.of("/env/bin/python3", "-u", "-c", SpareKind.WAIT),
                Map.of("PYTHONPATH", "lib"),
                Optional.of(work)));
    assertThat(SpareKind.arguments(pod)).containsExactly("a.py", "-x");
  }

  @Test
  void scriptsOfOneInterpreterAreOfOneKind() {
    assertThat(python(Map.of("KASTOR_POD", "a-0"), "python", "a.py"))
        .isPresent()
        .isEqualTo(python(Map.of("KASTOR_POD", "b-0"), "python", "b.py", "--more"))
        .isNotEqualTo(python(Map.of("TOKEN", "x"), "python", "a.py"))
        .isNotEqualTo(python(Map.of(), "python3", "a.py"));
  }

  @Test
  void namespacesShareNone() {
    assertThat(SpareKind.of(pod("a", true, FOLDER, OF_A_POD, "java")))
        .isNotEqualTo(SpareKind.of(pod("b", true, FOLDER, OF_A_POD, "java")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sh -c train.py",
        "torchrun train.py",
        "python",
        "python -u",
        "python -m train",
        "python -c print()",
        "python -P train.py",
        "python -W error train.py",
        "pythonic train.py",
        "python train",
        "python none.py"
      })
  void otherCommandsStartOnTheirOwn(String line) {
    assertThat(python(Map.of(), line.split(" ", -1))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "os.environ['OMP_NUM_THREADS'] = '1'",
        "os.environ[\"A\"]='1'",
        "os.environ['A'] += ':x'",
        "os.environ |= {'A': '1'}",
        "os.environ.update(A='1')",
        "os.environ.setdefault('A', '1')",
        "os.environ.clear()",
        "del os.environ['A']",
        "os.environ[names['a']] = '1'",
        "e = os.environ; e['A'] = '1'",
        "os.putenv('A', '1')",
        "os.unsetenv('A')",
        "load_dotenv()"
      })
  void aScriptThatMaySetVariablesStartsOnItsOwn(String script) throws IOException {
    Files.writeString(work.resolve("a.py"), "import os\n" + script + "\nimport torch\n");
    assertThat(python(Map.of(), "python", "a.py")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rank = os.environ['RANK']",
        "rank = os.environ.get('RANK', '0')",
        "if os.environ['RANK'] == '0': pass"
      })
  void oneThatReadsThemDoesNot(String script) throws IOException {
    Files.writeString(work.resolve("a.py"), "import os\n" + script + "\nimport torch\n");
    assertThat(python(Map.of(), "python", "a.py")).isPresent();
  }
}
