package dev.kastor.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacerTest {
  private static final Device A = new Device("a", "cpu:0");
  private static final Device B = new Device("b", "cpu:0");
  private static final Device B1 = new Device("b", "cpu:1");
  private static final List<Device> DEVICES = List.of(A, B, B1);

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
    Node there = x.negate().at("b/cpu:1");
    Node anyOfB = there.exp().at("b");
    Placement placement = place(costs(10), anyOfB);
    assertThat(placement.of(there)).contains(B1);
    assertThat(placement.of(anyOfB)).contains(B1);
    assertThat(placement.of(Node.constant(1).add(2))).as("a constant").isEmpty();
  }

  @Test
  void allThatUsesAVariableIsWithIt() {
    Variable v = new Variable("v", Shape.of(256, 256), new float[256 * 256]);
    Node read = v.read();
    Node write = v.assign(read.matMul(x)).at("b/cpu:0");
    assertThat(place(costs(0), write).of(read)).contains(B);
  }

  @Test
  void constraintsThatExcludeEachOtherAreNamed() {
    Variable v = new Variable("v", Shape.of(1), new float[1]);
    Node read = v.read().at("a");
    Node write = v.assign(read).at("b");
    assertThatThrownBy(() -> place(costs(0), write))
        .hasMessageContaining("Read v[1] on 'a'")
        .hasMessageContaining("Assign v[1] on 'b'");
    assertThatThrownBy(() -> place(costs(0), x.negate().at("c/cpu:0")))
        .hasMessageContaining("'c/cpu:0'")
        .hasMessageContaining("a/cpu:0, b/cpu:0, b/cpu:1");
  }
}
