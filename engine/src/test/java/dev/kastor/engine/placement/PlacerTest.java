package dev.kastor.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PlacerTest {
  private static final Device A = new Device("a");
  private static final Device B = new Device("b");
  private static final Device C = new Device("c");
  private static final List<Device> DEVICES = List.of(A, B, C);

  private final Node x = Node.input("x", Type.f32(256, 256));

  /** A second for each product, and as long as it says for each way. */
  private static Costs costs(double way) {
    return new Costs() {
      @Override
      public double seconds(Node node, Device device) {
        return node.inputs().size() == 2 ? 1 : 0;
      }

      @Override
      public double seconds(long bytes, Device from, Device to) {
        return from.equals(to) ? 0 : way;
      }
    };
  }

  private static Placement place(Costs costs, Node... wanted) {
    return new Placer(DEVICES, costs).place(List.of(wanted), Set.of());
  }

  @Test
  void whatIsIndependentIsDoneAtOnceIfTheWayIsShort() {
    Node one = x.matMul(x);
    Node two = x.matMul(x.negate());
    Placement near = place(costs(0.1), one, two);
    assertThat(near.of(one)).isNotEqualTo(near.of(two));
    assertThat(near.of(x)).as("where it is used first").isEqualTo(near.of(one));
  }

  @Test
  void whatIsFarStaysTogether() {
    Node chain = x.matMul(x).add(x);
    Node other = chain.matMul(chain);
    Placement far = place(costs(10), other);
    assertThat(far.of(other)).isEqualTo(far.of(chain)).isEqualTo(far.of(x)).contains(A);
  }

  @Test
  void whatIsSaidHolds() {
    Node there = x.negate().at("c");
    Node after = there.exp().at("b");
    Placement placement = place(costs(10), after);
    assertThat(placement.of(there)).contains(C);
    assertThat(placement.of(after)).contains(B);
    assertThat(placement.of(Node.constant(1).add(2))).as("a constant").isEmpty();
  }

  @Test
  void whatNothingIsSaidOfIsWhereItIsSaidToBe() {
    Node one = x.matMul(x);
    Node two = one.matMul(one).at("c");
    Placement placement = new Placer(DEVICES, costs(0), B).place(List.of(two), Set.of());
    assertThat(placement.of(one)).contains(B);
    assertThat(placement.of(two)).contains(C);
    assertThatThrownBy(() -> new Placer(List.of(A, B), costs(0), C)).hasMessageContaining("[c]");
  }

  private static Node loop(Node first, UnaryOperator<Node> body) {
    return ControlFlow.loop(
            List.of(Node.constant(0), first),
            values -> Node.constant(3).greater(values.getFirst()),
            values -> List.of(values.get(0).add(1), body.apply(values.get(1))))
        .get(1);
  }

  @Test
  void whatALoopCarriesIsInOnePlace() {
    List<Node> carried = new ArrayList<>();
    Node last =
        loop(
            x,
            value -> {
              carried.add(value);
              return value.matMul(value).at("b");
            });
    Placement placement = place(costs(0), last);
    assertThat(placement.of(last)).contains(B);
    assertThat(placement.of(carried.getFirst())).contains(B);
  }

  @Test
  void constraintsThatExcludeEachOtherAreNamed() {
    Node chosen =
        ControlFlow.cond(
                Node.input("p", Type.f32()),
                List.of(x),
                operands -> List.of(operands.getFirst().exp().at("a")),
                operands -> List.of(operands.getFirst().tanh().at("b")))
            .getFirst();
    assertThatThrownBy(() -> place(costs(0), chosen))
        .hasMessageContaining("EXP[256, 256] on 'a'")
        .hasMessageContaining("TANH[256, 256] on 'b'");
    assertThatThrownBy(() -> place(costs(0), x.negate().at("d")))
        .hasMessageContaining("'d'")
        .hasMessageContaining("a, b, c");
  }
}
