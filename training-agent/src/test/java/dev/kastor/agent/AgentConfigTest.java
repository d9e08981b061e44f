package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.agent.pace.Pace;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.trainer.WarmStart;
import dev.kastor.agent.trainer.Work;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentConfigTest {
  private static final String SPEC =
      """
      {"program": {"name": "glyph-mlp", "parameters": {"seed": "3"}},
       "elastic": {"minReplicas": 2, "maxReplicas": 8},
       "goodput": {"batchSize": {"initial": 128, "perDevice": {"min": 4, "max": 48}},
                   "learningRate": {"base": "0.05", "scaling": "Linear"},
                   "work": {"epochs": 5}},
       "checkpoint": {"intervalSeconds": 7, "keepLast": 4}}
      """;

  private static Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    for (String name :
        new String[] {
          "NAMESPACE",
          "JOB",
          "JOB_UID",
          "POD",
          "POD_IP",
          "TOKEN_FILE",
          "CA_FILE",
          "RING_SECRET_FILE",
          "CHECKPOINT_DIR",
          "TERMINATION_LOG"
        }) {
      environment.put("KASTOR_" + name, "some-" + name.toLowerCase(Locale.ROOT));
    }
    environment.put("KASTOR_OPERATOR_URL", "https://operator:8443");
    environment.put("KASTOR_JOB_SPEC", SPEC);
    return environment;
  }

  @Test
  void readsAll() throws Exception {
    AgentConfig config = AgentConfig.read(environment());
    assertThat(config.job()).hasToString("some-namespace/some-job");
    assertThat(config.exitWithParent()).isFalse();
    assertThat(config.pace()).isEmpty();
    assertThat(config.ringCipher()).isEqualTo(RingCipher.AES_GCM);
    JobSettings spec = config.spec();
    assertThat(spec.program()).isEqualTo("glyph-mlp");
    assertThat(spec.parameters()).containsExactly(Map.entry("seed", "3"));
    assertThat(spec.initialBatch()).isEqualTo(128);
    assertThat(spec.baseLearningRate()).isEqualTo(0.05);
    assertThat(spec.scaling()).isEqualTo("Linear");
    assertThat(spec.work()).isEqualTo(new Work.Epochs(5));
    assertThat(spec.firstAtomicBatch()).isEqualTo(48);
    assertThat(spec.checkpointInterval()).isEqualTo(Duration.ofSeconds(7));
    assertThat(spec.keepLast()).isEqualTo(4);
    assertThat(spec.warmStart()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "9, 2"})
  void speaksTheHighestProtocolThatBothKnow(String told, int spoken) throws Exception {
    Map<String, String> environment = environment();
    assertThat(AgentConfig.read(environment).protocol()).as("told of none").isEqualTo(1);
    environment.put("KASTOR_PROTOCOL", told);
    assertThat(AgentConfig.read(environment).protocol()).isEqualTo(spoken);
  }

  @Test
  void readsThePaceOfAnAccelerator() throws Exception {
    Map<String, String> environment = environment();
    environment.put("KASTOR_PACE", "0.008 0.0026");
    assertThat(AgentConfig.read(environment).pace()).contains(new Pace(0.008, 0.0026));
    environment.put("KASTOR_PACE", "fast");
    assertThatThrownBy(() -> AgentConfig.read(environment))
        .hasMessageContaining("KASTOR_PACE is unusable: it must be two numbers of seconds");
  }

  @Test
  void readsWhichServerItIs() throws Exception {
    Map<String, String> environment = environment();
    assertThat(AgentConfig.read(environment).server()).isEmpty();
    environment.put("KASTOR_ROLE", "worker");
    environment.put("KASTOR_SERVER_INDEX", "3");
    assertThat(AgentConfig.read(environment).server()).isEmpty();
    environment.put("KASTOR_ROLE", "server");
    assertThat(AgentConfig.read(environment).server()).hasValue(3);
    environment.put("KASTOR_SERVER_INDEX", "64");
    assertThatThrownBy(() -> AgentConfig.read(environment))
        .hasMessageContaining("KASTOR_SERVER_INDEX is unusable: it must be from 0 to 63");
    environment.remove("KASTOR_SERVER_INDEX");
    assertThatThrownBy(() -> AgentConfig.read(environment))
        .hasMessageContaining("KASTOR_SERVER_INDEX is not set");
    environment.put("KASTOR_ROLE", "both");
    assertThatThrownBy(() -> AgentConfig.read(environment))
        .hasMessageContaining("KASTOR_ROLE is unusable: it must be server or worker");
  }

  @Test
  void readsWhereTheCheckpointsOfAnotherJobAre() throws Exception {
    Map<String, String> environment = environment();
    environment.put(
        "KASTOR_JOB_SPEC", SPEC.replace("4}", "4, \"warmStart\": {\"job\": \"a\", \"step\": 0}}"));
    AgentConfig unnamed = AgentConfig.read(environment);
    assertThat(unnamed.spec().warmStart())
        .contains(new JobSettings.WarmStartSetting("a", OptionalLong.of(0)));
    assertThat(unnamed.warmStart())
        .isInstanceOfSatisfying(
            WarmStart.Source.Absent.class,
            absent -> assertThat(absent.why()).contains("older than this agent"));
    environment.put("KASTOR_WARM_START_PROBLEM", "there is no such TrainingJob");
    assertThat(AgentConfig.read(environment).warmStart())
        .isEqualTo(new WarmStart.Source.Absent("there is no such TrainingJob"));
    environment.put("KASTOR_WARM_START_DIR", "/a");
    environment.put("KASTOR_WARM_START_UID", "uid-a");
    environment.put("KASTOR_WARM_START_RUNS", "glyph-cnn");
    assertThat(AgentConfig.read(environment).warmStart())
        .isInstanceOfSatisfying(
            WarmStart.Source.Found.class,
            readable -> assertThat(readable.runs()).isEqualTo("glyph-cnn"));
  }

  @Test
  void namesEveryMissingVariable() {
    assertThatThrownBy(() -> AgentConfig.read(Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll(environment().keySet().toArray(new String[0]));
  }

  @ParameterizedTest
  @CsvSource({
    "KASTOR_OPERATOR_URL, http://operator, https",
    "KASTOR_OPERATOR_URL, https:, https",
    "KASTOR_PROTOCOL, 0, above 0",
    "KASTOR_PROTOCOL, two, two",
    "KASTOR_RING_ENCRYPTION, rot13, 'aes-gcm, chacha20, none'",
    "KASTOR_JOB_SPEC, {, not JSON",
    "KASTOR_JOB_SPEC, {}, program.name",
    "KASTOR_JOB_SPEC, {}, goodput.batchSize.initial",
    "KASTOR_JOB_SPEC, {}, goodput.learningRate.base",
    "KASTOR_JOB_SPEC, {}, goodput.work.steps",
    "KASTOR_JOB_SPEC, '{\"checkpoint\": {\"warmStart\": {\"step\": -1}}}', checkpoint.warmStart.step",
    "KASTOR_JOB_SPEC, '{\"checkpoint\": {\"warmStart\": {}}}', checkpoint.warmStart.job",
  })
  void namesWhatIsWrong(String variable, String value, String message) {
    Map<String, String> environment = environment();
    environment.put(variable, value);
    assertThatThrownBy(() -> AgentConfig.read(environment))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(variable)
        .hasMessageContaining(message);
  }

  @Test
  void workConvertsToStepsOfTheInitialBatch() {
    DoubleUnaryOperator half = judged -> judged / 2;
    assertThat(new Work.Steps(30).totalSteps(16, 1000, half)).isEqualTo(30);
    assertThat(new Work.Examples(320).totalSteps(16, 1000, half)).isEqualTo(20);
    assertThat(new Work.Epochs(2).totalSteps(16, 1000, DoubleUnaryOperator.identity()))
        .isEqualTo(125);
    assertThat(new Work.Epochs(2).totalSteps(16, 1000, half)).isEqualTo(62.5);
  }
}
