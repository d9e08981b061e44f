package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/**
 * A recurrent layer over embedded tokens that predicts the next token at each position. The state
 * starts at zero.
 *
 * @param context tokens per example; targets are the tokens one place further on
 * @param embedding width of an embedded token
 * @param hidden width of the state
 */
public record RecurrentLanguageModel(
    int context, int vocabulary, int embedding, int hidden, Recurrent.Cell cell)
    implements Network {
  @Override
  public Type example() {
    return new Type(Shape.of(context), DType.I32);
  }

  @Override
  public int positions() {
    return context;
  }

  @Override
  public int classes() {
    return vocabulary;
  }

  @Override
  public Node logits(Layers build, Node tokens) {
    int batch = tokens.shape().extent(0);
    int width = cell.gates() * hidden;
    Node x = build.embedding("embedding", tokens, vocabulary, embedding).permute(1, 0, 2);
    Node inputs = build.dense("cell.input", x, width);
    Initial small = Initial.uniform(1 / Math.sqrt(hidden));
    Node weight = build.parameter("cell.state.weight", Shape.of(hidden, width), small);
    Node bias = build.parameter("cell.state.bias", Shape.of(width), Initial.ZEROS);
    Node states = Node.of(new Recurrent(cell), inputs, weight, bias);
    Node sequence = Recurrent.output(states).permute(1, 0, 2).reshape(batch * context, hidden);
    return build.dense("head", sequence, vocabulary);
  }
}
