package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.Update;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

class ServerTrainerTest {
  private static final Layout LAYOUT = new LinearModel().layout();

  /** Optimizer with one number for all parameters. */
  private record Counting() implements Optimizer {
    @Override
    public String name() {
      return "counting";
    }

    @Override
    public SequencedMap<String, Integer> slots(Layout layout) {
      return new LinkedHashMap<>(Map.of("count", 1));
    }

    @Override
    public void apply(Update update) {
      throw new UnsupportedOperationException();
    }
  }

  private static ServerPlan servers(int count) {
    return new ServerPlan(count, false, 0, 0);
  }

  /** A restart would not help, so it is the program's. */
  @Test
  void anOptimizerThatCannotBeShardedIsRefusedForGood() {
    assertThatThrownBy(() -> ServerTrainer.checkOptimizer(servers(2), new Counting(), LAYOUT))
        .isInstanceOf(ProgramException.class)
        .hasMessageContainingAll("counting", "servers: 1");
    assertThatCode(() -> ServerTrainer.checkOptimizer(servers(1), new Counting(), LAYOUT))
        .doesNotThrowAnyException();
    assertThatCode(() -> ServerTrainer.checkOptimizer(servers(2), new Sgd(0.9, 0), LAYOUT))
        .doesNotThrowAnyException();
  }
}
