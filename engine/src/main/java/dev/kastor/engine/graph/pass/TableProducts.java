package dev.kastor.engine.graph.pass;

import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Primitive.Binary;
import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pass that multiplies a table before its rows are gathered, where it has fewer rows than are asked
 * for: the product of a gathered row is the gathered row of the product, and so is its sum with a
 * bias. With 256 tokens in a table and 2,048 in a batch that is an eighth of the work.
 *
 * <p>Gradients then are those of the small product: they add up per row of the table first. Rows
 * that nobody asks for are multiplied too, so one of them that is not finite spoils the gradient of
 * what it is multiplied with.
 */
public final class TableProducts implements GraphPass {
  /** Fewer rows than numbers by this factor are worth another table. */
  private static final int WORTH = 2;

  /**
   * A value whose last axis holds rows of a table.
   *
   * @param numbers which row is where
   * @param product whether the table was multiplied
   */
  private record Rows(Node table, Node numbers, boolean product) {
    Node gathered() {
      return table.gather(numbers);
    }

    Rows with(Node multiplied) {
      return new Rows(multiplied, numbers, true);
    }

    Rows numbered(Node otherwise) {
      return new Rows(table, otherwise, product);
    }

    boolean many() {
      return numbers.shape().elements() >= (long) WORTH * table.shape().extent(0);
    }
  }

  @Override
  public String name() {
    return "tableProducts";
  }

  @Override
  public String description() {
    return "Multiplies a table before its rows are gathered, where it has at most half as many.";
  }

  @Override
  public Stage stage() {
    return Stage.BEFORE_GRADIENTS;
  }

  @Override
  public List<Node> apply(List<Node> results) {
    Walk walk = new Walk();
    new Graph(results).topological().forEach(walk::visit);
    return results.stream().map(walk::now).toList();
  }

  /** One graph on the way through the pass. */
  private static final class Walk {
    private final Map<Node, Node> rewritten = new HashMap<>();
    private final Map<Node, Rows> rows = new HashMap<>();

    private Node now(Node node) {
      return Objects.requireNonNull(rewritten.get(node), () -> "Unvisited " + node);
    }

    private void visit(Node node) {
      Node same =
          node.with(
              node.inputs().stream().map(this::now).toList(),
              node.after().stream().map(this::now).toList());
      boolean free = node.after().isEmpty() && node.place().isEmpty();
      Optional<Rows> found = free ? rows(node, same) : Optional.empty();
      found.ifPresent(known -> rows.put(node, known));
      rewritten.put(node, found.filter(Rows::product).map(Rows::gathered).orElse(same));
    }

    private Optional<Rows> rows(Node node, Node same) {
      return switch (node.op()) {
        case Primitive.Gather _ -> Optional.of(new Rows(same.input(0), same.input(1), false));
        case Primitive.Reshape op ->
            of(node, 0)
                .filter(_ -> op.shape().rank() > 0)
                .filter(_ -> op.shape().extent(-1) == node.input(0).shape().extent(-1))
                .map(in -> in.numbered(in.numbers().reshape(without(op.shape()))));
        case Primitive.Permute op ->
            of(node, 0)
                .filter(_ -> op.axes().getLast() == op.axes().size() - 1)
                .map(in ->
                    in.numbered(
                        in.numbers()
                            .permute(
                                op.axes()
                                    .subList(0, op.axes().size() - 1)
                                    .toArray(Integer[]::new))));
        case Primitive.MatMul op when !op.transposeLeft() ->
            of(node, 0)
                .filter(in -> in.many() && same.input(1).shape().rank() == 2)
                .map(in -> in.with(in.table().matMul(same.input(1), false, op.transposeRight())));
        case Binary(Binary.Kind kind) when kind == Binary.Kind.ADD -> {
          Node bias = vector(same.input(1));
          yield of(node, 0)
              .filter(in -> in.product() && bias != null)
              .map(in -> in.with(in.table().add(Objects.requireNonNull(bias))));
        }
        default -> Optional.empty();
      };
    }

    private Optional<Rows> of(Node node, int input) {
      return Optional.ofNullable(rows.get(node.input(input)));
    }

    /** The vector that is repeated along all but the last axis; null if there is none. */
    private static @Nullable Node vector(Node repeated) {
      if (!(repeated.op() instanceof Primitive.Broadcast)) {
        return null;
      }
      Node from = repeated.input(0);
      Shape shape = from.shape();
      int width = repeated.shape().extent(-1);
      return shape.elements() == width && shape.extent(-1) == width ? from.reshape(width) : null;
    }

    private static Shape without(Shape shape) {
      return Shape.of(Arrays.copyOf(shape.extents(), shape.rank() - 1));
    }
  }
}
