package dev.kastor.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Node;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How clusters are written. */
final class ClusterShapeTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "16x4",
        "aws=6x4,rtx=3x8",
        "aws=6x4:price=12.24:spot,aws=2x4:price=30:racks=2",
        "4x4:spot",
        "8x4:price=0.5:racks=8"
      })
  void arePrintedAsTheyAreRead(String text) {
    ClusterShape shape = ClusterShape.parse(text);
    assertThat(shape).hasToString(text);
    assertThat(ClusterShape.parse(shape.toString())).isEqualTo(shape);
  }

  @Test
  void arePrintedInOneForm() {
    assertThat(ClusterShape.parse(" a=6x4:racks=2:spot:price=12.240 , b=1x1:price=0"))
        .hasToString("a=6x4:price=12.24:spot:racks=2,b=1x1");
  }

  @Test
  void groupsOfOneTypeShareItsNames() {
    List<Node> nodes = ClusterShape.parse("aws=2x4:price=1:spot,rtx=1x8,aws=9x4:racks=2").nodes();
    assertThat(nodes.stream().map(Node::name)).doesNotHaveDuplicates().hasSize(12);
    assertThat(nodes.getFirst()).isEqualTo(new Node("aws-00", "aws", 4, "", true, 1));
    assertThat(nodes.get(3)).isEqualTo(new Node("aws-02", "aws", 4, "aws-rack-0", false, 0));
    assertThat(nodes.getLast()).isEqualTo(new Node("aws-10", "aws", 4, "aws-rack-1", false, 0));
    assertThat(nodes.stream().filter(n -> n.rack().equals("aws-rack-0"))).hasSize(5);
  }

  @Test
  void countAlikeNodesTogether() {
    ClusterShape shape = ClusterShape.parse("a=2x4:spot,b=1x8,a=3x4:price=2,a=1x8");
    assertThat(shape.alike()).hasToString("a=5x4,b=1x8,a=1x8");
    assertThat(shape.gpus()).isEqualTo(36);
  }

  @ParameterizedTest
  @CsvSource({
    "4y4, 1, 4y4",
    "'a=4x4,b=', 7, b=",
    "a=4x4:price=-1, 7, price=-1",
    "a=4x4:prize=1, 7, prize=1",
    "'b=1x1,a=4x4:spot:spot', 18, spot",
    "a=4x4:price=1:price=2, 15, price=2",
    "'a=4x4:racks=5', 1, not 5",
    "a=4x4:racks=0, 7, racks=0",
    "a=4x4:, 7, ''",
    "0x4, 1, 0x4",
    "a=4x4[spot], 1, a=4x4[spot]"
  })
  void tellWhereTheyAreWrong(String text, int character, String what) {
    assertThatThrownBy(() -> ClusterShape.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("character %d:".formatted(character))
        .hasMessageContaining(what);
  }
}
