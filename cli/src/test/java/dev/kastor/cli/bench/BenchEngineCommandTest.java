package dev.kastor.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import org.junit.jupiter.api.Test;

final class BenchEngineCommandTest {
  private static Terminal.Result refused(String... options) {
    String[] all = new String[options.length + 2];
    all[0] = "bench";
    all[1] = "engine";
    System.arraycopy(options, 0, all, 2, options.length);
    Terminal.Result result = Terminal.runPlain(all);
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
    return result;
  }

  @Test
  void refusesBeforeItMeasures() {
    assertThat(refused("--models", "mlp,gpt").err())
        .contains(
            "there is no model 'gpt'; there are mlp, cnn, transformer, lstm, gru, resnet18, gpt2-small");
    assertThat(refused("--threads", "0").err()).contains("--threads (0) must be at least 1");
    assertThat(refused("--threads", "100000").err()).contains("no more than this machine's cores");
    assertThat(refused("--seconds", "0").err()).contains("--seconds (0.0) must be more than 0");
    assertThat(refused("--rounds", "0").err()).contains("--rounds (0) at least 1");
    assertThat(refused("--peer", "/no/such/python").err())
        .contains("auto, none or the path of a Python", "/no/such/python");
    assertThat(refused("--peer", "none", "--json", "/").err()).contains("/ is a folder");
  }

  @Test
  void helpNamesModelsAndExamples() {
    Terminal.Result help = Terminal.runPlain("bench", "engine", "--help");
    assertThat(help.code()).isZero();
    assertThat(help.out()).contains("resnet18", "kastor bench engine --peer none");
  }
}
