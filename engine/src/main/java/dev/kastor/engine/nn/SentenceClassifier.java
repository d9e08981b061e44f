package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/**
 * A recurrent layer over the bytes of sentences of unequal length whose state at the end of each
 * tells its class.
 *
 * <p>A token is a byte and 1; 0 follows the end of a sentence that is shorter than the context. The
 * layer has as many steps as the longest sentence of a batch has bytes.
 *
 * @param context most bytes of a sentence
 * @param embedding width of an embedded byte
 * @param hidden width of the state
 * @param loops whether the layer is a loop; otherwise it has a step for each byte of the context,
 *     and the same results but for rounding
 */
public record SentenceClassifier(
    int context, int embedding, int hidden, Recurrent.Cell cell, int classes, boolean loops)
    implements Network {
  private static final int TOKENS = 257;

  @Override
  public Type example() {
    return new Type(Shape.of(context), DType.I32);
  }

  @Override
  public int positions() {
    return 1;
  }

  @Override
  public Network withoutControlFlow() {
    return new SentenceClassifier(context, embedding, hidden, cell, classes, false);
  }

  @Override
  public Node logits(Layers build, Node tokens) {
    int width = cell.gates() * hidden;
    Node x = build.embedding("embedding", tokens, TOKENS, embedding).permute(1, 0, 2);
    Node inputs = build.dense("cell.input", x, width);
    Initial small = Initial.uniform(1 / Math.sqrt(hidden));
    Node weight = build.parameter("cell.state.weight", Shape.of(hidden, width), small);
    Node bias = build.parameter("cell.state.bias", Shape.of(width), Initial.ZEROS);
    Node lengths = lengths(tokens);
    Node last =
        loops
            ? DynamicRecurrence.of(cell, inputs, weight, bias, lengths).states().getFirst()
            : atEnd(Recurrent.output(Node.of(new Recurrent(cell), inputs, weight, bias)), lengths);
    return build.dense("head", last, classes);
  }

  /** How many tokens of each sentence are bytes, {@code [batch]}. */
  private Node lengths(Node tokens) {
    Node isByte = Node.iota(Shape.of(TOKENS, 1), 0).greater(Node.constant(0));
    return isByte.gather(tokens).reshape(tokens.shape()).sum(1, 2);
  }

  /** The state at the last byte of each sentence, of those at all positions. */
  private Node atEnd(Node states, Node lengths) {
    int batch = lengths.shape().extent(0);
    Node position = Node.iota(Shape.of(context, batch), 0);
    Node begun = lengths.greater(position);
    Node goesOn = lengths.greater(position.add(1));
    Node isEnd = begun.subtract(goesOn).reshape(context, batch, 1);
    return states.multiply(isEnd).sum(0, 1);
  }
}
