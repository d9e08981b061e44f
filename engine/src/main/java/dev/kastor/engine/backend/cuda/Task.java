package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.graph.Node;
import java.util.List;

/** One thing that a GPU does on buffers. */
sealed interface Task permits Launch, Task.Multiplication, Task.Convolution {
  /** Nodes whose buffers it takes, in order; it writes to the last. */
  List<Node> parameters();

  /** The node whose buffer it writes to. */
  default Node result() {
    return parameters().getLast();
  }

  /** A product that a library computes. */
  record Multiplication(Gemm gemm, Node left, Node right, Node result) implements Task {
    @Override
    public List<Node> parameters() {
      return List.of(left, right, result);
    }
  }

  /**
   * A convolution, or one of its gradients, that a library computes.
   *
   * @param first the image, or the filter if the image is wanted
   * @param second the filter if the result is wanted, or else the gradient of the result
   */
  record Convolution(Correlation correlation, Node first, Node second, Node result)
      implements Task {
    @Override
    public List<Node> parameters() {
      return List.of(first, second, result);
    }
  }
}
