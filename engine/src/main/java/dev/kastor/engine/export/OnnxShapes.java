package dev.kastor.engine.export;

import dev.kastor.engine.export.OnnxGraph.Attribute;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shapes as vectors that are computed from the number of examples in an input of a graph. */
final class OnnxShapes {
  private final OnnxGraph graph;
  private final String input;
  private @Nullable String examples;

  /**
   * Shapes of a graph.
   *
   * @param input an input whose first extent is the number of examples
   */
  OnnxShapes(OnnxGraph graph, String input) {
    this.graph = graph;
    this.input = input;
  }

  /** The name of a vector with these extents. */
  String of(Extents extents) {
    if (extents.growing() == 0) {
      return graph.longs(extents.fixed());
    }
    List<String> parts = new ArrayList<>();
    for (int axis = 0; axis < extents.rank(); axis++) {
      String fixed = graph.longs(extents.fixed()[axis]);
      parts.add(extents.grows()[axis] ? graph.add("Mul", List.of(examples(), fixed)) : fixed);
    }
    return graph.add("Concat", parts, Attribute.of("axis", 0));
  }

  private String examples() {
    if (examples == null) {
      String shape = graph.add("Shape", List.of(input));
      examples = graph.add("Slice", List.of(shape, graph.longs(0), graph.longs(1)));
    }
    return examples;
  }
}
