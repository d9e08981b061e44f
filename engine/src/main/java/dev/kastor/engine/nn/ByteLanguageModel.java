package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Softmax;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/**
 * A causal transformer over bytes that predicts the next byte at each position: blocks of attention
 * and a ReLU layer, each behind a layer norm and beside a residual (Radford et al., 2019, section
 * 2.3).
 *
 * @param context bytes per example; targets are the bytes one place further on
 * @param width of the residual stream, a multiple of {@code heads}
 */
public record ByteLanguageModel(int context, int width, int heads, int layers) implements Network {
  private static final int VOCABULARY = 256;

  public ByteLanguageModel {
    if (width % heads != 0) {
      throw new IllegalArgumentException(
          "width (%d) must be a multiple of heads (%d).".formatted(width, heads));
    }
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
    return VOCABULARY;
  }

  @Override
  public Node logits(Layers build, Node tokens) {
    int batch = tokens.shape().extent(0);
    Node place = build.parameter("place", Shape.of(context, width), Initial.uniform(0.05));
    Node x = build.embedding("embedding", tokens, VOCABULARY, width).add(place);
    x = x.reshape(batch * context, width);
    for (int layer = 0; layer < layers; layer++) {
      String label = "layer" + layer;
      x = x.add(attention(build, label, build.layerNorm(label + ".norm1", x), batch));
      Node inner = build.dense(label + ".up", build.layerNorm(label + ".norm2", x), 4 * width);
      x = x.add(build.dense(label + ".down", inner.relu(), width));
    }
    return build.dense("head", build.layerNorm("norm", x), VOCABULARY);
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
