package dev.kastor.engine.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Update;
import dev.kastor.testkit.SourceJar;
import java.nio.file.Path;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Optimizers that a program's parameters name, of Kastor's own and of the example's jar. */
class OptimizerJarsTest {
  private static final Map<String, String> DEFAULTS =
      Map.of("optimizer", "sgd", "momentum", "0.9", "weightDecay", "0");

  @TempDir private Path folder;

  private Optimizer create(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters("test", DEFAULTS, given), folder);
  }

  /** Two steps of one parameter with the gradients 1 and -1, at a rate of 0.1. */
  private static float[] trained(Optimizer optimizer) {
    float[] parameters = {1};
    Layout layout = Layout.of("parameters", 1);
    SequencedMap<String, float[]> slots = optimizer.newSlots(layout);
    optimizer.apply(new Update(layout, parameters, new float[] {1}, slots, 0.1, 0));
    optimizer.apply(new Update(layout, parameters, new float[] {-1}, slots, 0.1, 1));
    return parameters;
  }

  @Test
  void parametersOfTheProgramAreOptionsThatTheOptimizerDoesNotSet() throws Exception {
    assertThat(trained(create(Map.of("momentum", "0"))))
        .isEqualTo(trained(create(Map.of("optimizer", "sgd:momentum=0"))))
        .isNotEqualTo(trained(create(Map.of())));
    assertThat(trained(create(Map.of("optimizer", "adam:beta2=0.5"))))
        .isNotEqualTo(trained(create(Map.of("optimizer", "adam"))));
  }

  @Tag("slow")
  @Test
  void theExampleIsFoundAndTakesItsOption() throws Exception {
    SourceJar.ofExample(folder, "optimizer", OptimizerPlugin.class);
    // The second mix is 0.9 (1 - beta2) - 0.1: its sign depends on the option.
    assertThat(trained(create(Map.of("optimizer", "lion")))).containsExactly(1);
    assertThat(trained(create(Map.of("optimizer", "lion:beta2=0.5")))[0]).isLessThan(0.85f);
    assertThatThrownBy(() -> create(Map.of("optimizer", "lion:beta3=1")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("optimizer lion has no option 'beta3'. Use one of: beta2");
  }

  @Test
  void namesWhatThereIs() {
    assertThatThrownBy(() -> create(Map.of("optimizer", "sdg")))
        .isInstanceOf(ProgramException.class)
        .hasMessageContaining("Parameter 'optimizer': there is no optimizer 'sdg'")
        .hasMessageContaining("sgd, adam");
    assertThatThrownBy(() -> create(Map.of("optimizer", "adam:beta2=1")))
        .hasMessageContaining("beta2 must be a number of at least 0 and below 1 but is '1'");
  }
}
