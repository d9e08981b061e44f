package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Layouts of networks. */
class LayoutTest {
  @Test
  void tensorsLieInTheOrderOfTheForwardPassUnderTheNamesOfTheirLayers() {
    try (GraphModel model = new GraphModel(new Mlp(5, List.of(3), 2), new ReferenceBackend(), 1)) {
      assertThat(model.layout().entries())
          .containsExactly(
              new Layout.Entry("hidden0.weight", Shape.of(5, 3), 0),
              new Layout.Entry("hidden0.bias", Shape.of(3), 15),
              new Layout.Entry("head.weight", Shape.of(3, 2), 18),
              new Layout.Entry("head.bias", Shape.of(2), 24));
      assertThat(model.layout().entries())
          .extracting(Layout.Entry::layer)
          .containsExactly("hidden0", "hidden0", "head", "head");
      assertThat(model.parameters()).hasSize(model.layout().elements()).hasSize(26);
      assertThat(model.layout()).isEqualTo(Forward.of(model.network(), 4).layout());
    }
  }

  @Test
  void statisticsHaveALayoutOfTheirOwn() {
    Forward forward = Forward.of(new ConvNet(2, 8, 8, 4, List.of(6)), 1);
    assertThat(forward.statisticsLayout().entries())
        .isNotEmpty()
        .allSatisfy(entry -> assertThat(entry.name()).matches(".*\\.(mean|variance)"));
  }

  @Test
  void moreParametersThanAVectorHoldsAreRefusedBeforeAnyMemoryIsTaken() {
    Mlp wide = new Mlp(16, List.of(50_000, 40_000, 50_000), 2);
    assertThatThrownBy(() -> new GraphModel(wide, new ReferenceBackend(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has 4001040002 parameters")
        .hasMessageContaining("at most 2147483639 (2^31 - 9)")
        .hasMessageContaining("narrower");
  }

  @Test
  void entriesLeaveNoHoles() {
    Layout.Entry first = new Layout.Entry("a", Shape.of(3), 0);
    assertThatThrownBy(() -> new Layout(List.of(first, new Layout.Entry("b", Shape.of(2), 4))))
        .hasMessage("b begins at 4 and not at 3");
    assertThat(Layout.of("all", 7).elements()).isEqualTo(7);
    assertThat(Layout.of("all", 0).entries()).isEmpty();
  }
}
