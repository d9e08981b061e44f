package dev.kastor.engine.graph.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.pass.GraphPass.Stage;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PassPipelineTest {
  private static final Node INPUT = Node.parameter("x", Shape.of(2));

  /** A pass that changes values, so that its application shows. */
  private record Adding(String name, Stage stage, double added) implements GraphPass {
    @Override
    public String description() {
      return "Adds a number.";
    }

    @Override
    public List<Node> apply(List<Node> results) {
      return results.stream().map(result -> result.add(added)).toList();
    }
  }

  private record Shortening(String name, Stage stage, String description) implements GraphPass {
    @Override
    public List<Node> apply(List<Node> results) {
      return results.subList(1, results.size());
    }
  }

  private static final List<GraphPass> KNOWN =
      List.of(
          new Adding("one", Stage.BEFORE_GRADIENTS, 1),
          new Adding("late", Stage.BEFORE_COMPILATION, 2),
          new Adding("two", Stage.BEFORE_GRADIENTS, 3));

  private static List<Double> added(Map<String, Boolean> switches, Stage stage, boolean pays) {
    Node result =
        new PassPipeline(KNOWN, switches).apply(stage, List.of(INPUT), _ -> pays).getFirst();
    List<Double> numbers = new ArrayList<>();
    while (result != INPUT) {
      Node number = result.input(1).input(0);
      while (!number.inputs().isEmpty()) {
        number = number.input(0);
      }
      numbers.addFirst((double) ((Primitive.Constant) number.op()).value());
      result = result.input(0);
    }
    return numbers;
  }

  @Test
  void passesOfAStageAreAppliedInTheirOrder() {
    assertThat(added(Map.of(), Stage.BEFORE_GRADIENTS, true)).containsExactly(1.0, 3.0);
    assertThat(added(Map.of(), Stage.BEFORE_COMPILATION, true)).containsExactly(2.0);
  }

  @Test
  void aPassThatGivesOtherTypesIsRefusedByName() {
    GraphPass shortening = new Shortening("short", Stage.BEFORE_GRADIENTS, "Forgets a result.");
    PassPipeline pipeline = new PassPipeline(List.of(shortening), Map.of());
    assertThatThrownBy(() -> pipeline.apply(Stage.BEFORE_GRADIENTS, List.of(INPUT), _ -> true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("graph pass short gave results of the types");
  }

  @Test
  void switchesHoldBeforeWhatPays() {
    assertThat(added(Map.of("one", false), Stage.BEFORE_GRADIENTS, true)).containsExactly(3.0);
    assertThat(added(Map.of("one", true), Stage.BEFORE_GRADIENTS, false)).containsExactly(1.0);
  }
}
