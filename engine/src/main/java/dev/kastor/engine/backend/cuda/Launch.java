package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.List;

/**
 * A kernel and how it is started.
 *
 * @param text in PTX
 * @param parameters nodes whose buffers it takes, in order
 * @param x blocks along the first axis, at most 2^31 - 1
 * @param y blocks along the second, at most 65535
 * @param z blocks along the third, at most 65535
 * @param threads of each block
 */
record Launch(String name, String text, List<Node> parameters, int x, int y, int z, int threads)
    implements Task {
  Launch {
    parameters = List.copyOf(parameters);
  }

  static Launch of(Ptx ptx, int x, int y, int z) {
    if (y > 65_535 || z > 65_535) {
      throw new IllegalArgumentException(
          "A GPU has no grid of %d x %d x %d blocks.".formatted(x, y, z));
    }
    return new Launch(ptx.name(), ptx.text(), ptx.parameters(), x, y, z, ptx.threads());
  }

  /** The same, which writes its result, its last parameter, to the buffer of another node. */
  Launch into(Node node) {
    List<Node> others = new ArrayList<>(parameters.subList(0, parameters.size() - 1));
    others.add(node);
    return new Launch(name, text, others, x, y, z, threads);
  }
}
