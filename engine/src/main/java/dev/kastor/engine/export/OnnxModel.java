package dev.kastor.engine.export;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.nn.Network;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Trained model as a file of ONNX: the graph from what files hold to logits and probabilities, for
 * any number of examples.
 *
 * <p>Operator set 13 and file version 7, those of ONNX 1.8 of 2020, which all runtimes in use know.
 */
final class OnnxModel {
  static final String LOGITS = "logits";
  static final String PROBABILITIES = "probabilities";

  private static final int FILE_VERSION = 7;
  private static final int OPERATORS = 13;

  /** A message of protocol buffers is shorter than this. */
  private static final long MOST_BYTES = Integer.MAX_VALUE;

  /** Numbers of examples, two by two; extents of a network are seldom equal to both. */
  private static final int[][] EXAMPLES = {{5, 7}, {11, 13}, {17, 19}};

  private OnnxModel() {}

  /**
   * The message of the whole file.
   *
   * @throws ExportException if the network has an op that ONNX has not, or its weights are too
   *     large for a file
   */
  static ProtoWriter of(TrainedModel trained) throws ExportException {
    if (trained.bytes() > MOST_BYTES) {
      throw new ExportException(
          "its parameters have %d bytes, and a file of ONNX holds less than 2 GiB. Export it as safetensors or npz"
              .formatted(trained.bytes()));
    }
    ProtoWriter model =
        new ProtoWriter()
            .number(1, (long) FILE_VERSION)
            .text(2, "kastor")
            .message(7, graph(trained))
            .message(8, new ProtoWriter().text(1, "").number(2, (long) OPERATORS));
    trained
        .facts()
        .forEach((name, text) -> model.message(14, new ProtoWriter().text(1, name).text(2, text)));
    if (model.length() > MOST_BYTES) {
      throw new ExportException(
          "its file would have %d bytes, and one of ONNX holds less than 2 GiB. Export it as safetensors or npz"
              .formatted(model.length()));
    }
    return model;
  }

  private static ProtoWriter graph(TrainedModel trained) throws ExportException {
    ExportException refused = new ExportException("it has no graph");
    for (int[] examples : EXAMPLES) {
      try {
        return graph(trained, examples[0], examples[1]);
      } catch (ExportException e) {
        // An extent that equals one of both numbers is taken for it; two others will show it.
        refused = e;
      }
    }
    throw refused;
  }

  private static ProtoWriter graph(TrainedModel trained, int few, int many) throws ExportException {
    Network network = trained.model().network();
    Forward first = Forward.of(network, few);
    Forward second = Forward.of(network, many);
    OnnxGraph graph = new OnnxGraph();
    OnnxInputs.Names names = new OnnxInputs(graph).add(trained.model().inputs(), network.example());
    Map<Node, String> leaves = new HashMap<>();
    leaves.put(first.features(), names.features());
    for (List<Node> nodes : List.of(first.parameters(), first.statistics())) {
      nodes.forEach(leaf -> leaves.put(leaf, Forward.name(leaf)));
    }
    Set<String> taken = Set.of(names.input(), LOGITS, PROBABILITIES);
    for (NamedTensor tensor : trained.tensors()) {
      if (taken.contains(tensor.name())) {
        throw new ExportException(
            "a parameter is called '%s', as an input or a result of the graph. Give its layer another label"
                .formatted(tensor.name()));
      }
      graph.trained(tensor);
    }
    String rows =
        OnnxNodes.translate(
            graph,
            new OnnxShapes(graph, names.input()),
            leaves,
            first.logits(),
            few,
            second.logits(),
            many);
    int positions = network.positions();
    int classes = network.classes();
    if (positions == 1) {
      graph.named(LOGITS, "Identity", List.of(rows));
      graph.output(LOGITS, OnnxGraph.Type.FLOAT, "of each class", classes);
      graph.output(PROBABILITIES, OnnxGraph.Type.FLOAT, "of each class", classes);
    } else {
      String shape = graph.longs(-1, positions, classes);
      graph.named(LOGITS, "Reshape", List.of(rows, shape));
      String meaning = "of each class after each position";
      graph.output(LOGITS, OnnxGraph.Type.FLOAT, meaning, positions, classes);
      graph.output(PROBABILITIES, OnnxGraph.Type.FLOAT, meaning, positions, classes);
    }
    graph.named(PROBABILITIES, "Softmax", List.of(LOGITS), OnnxGraph.Attribute.of("axis", -1));
    return graph.message(trained.facts().getOrDefault(TrainedModel.PREFIX + "program", "model"));
  }
}
