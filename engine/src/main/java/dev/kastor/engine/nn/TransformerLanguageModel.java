package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Softmax;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/**
 * A causal transformer that predicts the next token at each position: blocks of attention and a
 * ReLU layer, each behind a layer norm and beside a residual (Radford et al., 2019, section 2.3).
 *
 * @param vocabulary different tokens
 * @param context tokens per example; targets are the tokens one place further on
 * @param width of the residual stream, a multiple of {@code heads}
 * @param tied whether logits are products with the rows of the embedding, without a bias (Press and
 *     Wolf, 2017); otherwise they have weights of their own
 */
public record TransformerLanguageModel(
    int vocabulary, int context, int width, int heads, int layers, boolean tied)
    implements Network {
  private static final int BYTES = 256;

  public TransformerLanguageModel {
    if (width % heads != 0) {
      throw new IllegalArgumentException(
          "width (%d) must be a multiple of heads (%d).".formatted(width, heads));
    }
  }

  /** A model of bytes, with weights of their own for the logits. */
  public static TransformerLanguageModel ofBytes(int context, int width, int heads, int layers) {
    return new TransformerLanguageModel(BYTES, context, width, heads, layers, false);
  }

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
    Node place = build.parameter("place", Shape.of(context, width), Initial.uniform(0.05));
    Node table = build.parameter("embedding", Shape.of(vocabulary, width), Initial.uniform(0.05));
    Node x = table.gather(tokens).add(place).reshape(batch * context, width);
    for (int layer = 0; layer < layers; layer++) {
      String label = "layer" + layer;
      x = x.add(attention(build, label, build.layerNorm(label + ".norm1", x), batch));
      Node inner = build.dense(label + ".up", build.layerNorm(label + ".norm2", x), 4 * width);
      x = x.add(build.dense(label + ".down", inner.relu(), width));
    }
    Node last = build.layerNorm("norm", x);
    return tied ? last.matMul(table, false, true) : build.dense("head", last, vocabulary);
  }

  /** {@code [batch * context, width]} to the same. */
  private Node attention(Layers build, String label, Node x, int batch) {
    int depth = width / heads;
    Node all = build.dense(label + ".attend", x, 3 * width);
    Node[] parts = new Node[3];
    for (int i = 0; i < 3; i++) {
      Node part = all.slice(1, i * width, (i + 1) * width);
      parts[i] = part.reshape(batch, context, heads, depth).permute(0, 2, 1, 3);
    }
    Node scores = parts[0].matMul(parts[1], false, true).multiply(1 / Math.sqrt(depth));
    Node mixed = Node.of(new Softmax(true), scores).matMul(parts[2]);
    mixed = mixed.permute(0, 2, 1, 3).reshape(batch * context, width);
    return build.dense(label + ".project", mixed, width);
  }
}
