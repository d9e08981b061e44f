package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/**
 * A recurrent layer over the bytes of sentences of unequal length, the mean of whose states over
 * the bytes of a sentence tells its class. The state at the end alone would have forgotten how a
 * long one began.
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
    Node outputs =
        loops
            ? DynamicRecurrence.of(cell, inputs, weight, bias, lengths).outputs()
            : beforeEnd(
                Recurrent.output(Node.of(new Recurrent(cell), inputs, weight, bias)), lengths);
    Node count = lengths.maximum(Node.constant(1)).reshape(lengths.shape().extent(0), 1);
    return build.dense("head", outputs.sum(0, 1).divide(count), classes);
  }

  /** How many tokens of each sentence are bytes, {@code [batch]}. */
  private Node lengths(Node tokens) {
    Node isByte = Node.iota(Shape.of(TOKENS, 1), 0).greater(Node.constant(0));
    return isByte.gather(tokens).reshape(tokens.shape()).sum(1, 2);
  }

  /** The states at the bytes of each sentence, and zeros behind its end. */
  private Node beforeEnd(Node states, Node lengths) {
    int batch = lengths.shape().extent(0);
    Node position = Node.iota(Shape.of(context, batch), 0);
    return states.multiply(lengths.greater(position).reshape(context, batch, 1));
  }
}
