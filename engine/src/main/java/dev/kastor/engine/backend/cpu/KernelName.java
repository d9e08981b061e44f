package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What people call a kernel: its op, and those that are computed inside it. */
final class KernelName {
  private KernelName() {}

  /** The name of a node's kernel, such as {@code relu(add)} or {@code mat mul(bias)}. */
  static String of(Node node, Compilation compilation) {
    Epilogue epilogue = compilation.epilogue(node);
    if (epilogue != null) {
      return epilogue.steps().stream()
          .map(step -> lower(step.getClass().getSimpleName()))
          .collect(Collectors.joining(", ", name(epilogue.product()) + "(", ")"));
    }
    Join join = compilation.join(node);
    return join == null ? of(node, compilation::inlined) : "join(" + join.pads().size() + ")";
  }

  private static String of(Node node, Predicate<Node> inlined) {
    Map<String, Integer> inside = new LinkedHashMap<>();
    collect(node, inlined, inside);
    List<String> names = new ArrayList<>();
    inside.forEach((name, count) -> names.add(count == 1 ? name : count + " " + name));
    return names.isEmpty() ? name(node) : name(node) + "(" + String.join(", ", names) + ")";
  }

  private static void collect(Node node, Predicate<Node> inlined, Map<String, Integer> inside) {
    for (Node input : node.inputs()) {
      Node base = Compilation.base(input);
      if (inlined.test(base)) {
        if (computes(base)) {
          inside.merge(name(base), 1, Integer::sum);
        }
        collect(base, inlined, inside);
      }
    }
  }

  /** Constants and other ways to look at values cost nothing worth a word. */
  private static boolean computes(Node node) {
    return node.op() instanceof Primitive.Unary
        || node.op() instanceof Primitive.Binary
        || node.op() instanceof Primitive.Select;
  }

  private static String name(Node node) {
    return switch (node.op()) {
      case Primitive.Unary op -> lower(op.kind().name());
      case Primitive.Binary op -> lower(op.kind().name());
      case Primitive.Reduce op -> "reduce " + lower(op.kind().name());
      default -> words(node.op().name());
    };
  }

  private static String lower(String constant) {
    return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String words(String camel) {
    return camel.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
  }
}
