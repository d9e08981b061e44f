package dev.kastor.engine.export;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.tensor.DType;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** An exported model in ONNX Runtime beside the network on our own backend. */
final class OnnxSession implements AutoCloseable {
  /** Examples of one call: both sides compute in several, as the number is free. */
  private static final int BATCH = 50;

  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;
  private final TrainedModel model;

  /**
   * Agreement over some examples.
   *
   * @param difference largest difference of two logits
   * @param sameClass positions where both have the same class
   * @param positions all of them
   */
  record Agreement(double difference, int sameClass, int positions) {}

  OnnxSession(TrainedModel model) throws Exception {
    this.model = model;
    session = environment.createSession(Trained.bytes(ExportFormat.ONNX, model));
  }

  Map<String, String> facts() throws OrtException {
    return session.getMetadata().getCustomMetadata();
  }

  /** The result of a name for examples side by side. */
  float[] run(String output, float[] raw, int examples) throws OrtException {
    String input = session.getInputNames().iterator().next();
    TensorInfo info =
        (TensorInfo) Objects.requireNonNull(session.getInputInfo().get(input)).getInfo();
    long[] shape = info.getShape();
    shape[0] = examples;
    try (OnnxTensor tensor =
            info.type == OnnxJavaType.FLOAT
                ? OnnxTensor.createTensor(environment, FloatBuffer.wrap(raw), shape)
                : OnnxTensor.createTensor(environment, IntBuffer.wrap(whole(raw)), shape);
        OrtSession.Result result = session.run(Map.of(input, tensor))) {
      FloatBuffer values = ((OnnxTensor) result.get(output).orElseThrow()).getFloatBuffer();
      float[] floats = new float[values.remaining()];
      values.get(floats);
      return floats;
    }
  }

  /**
   * Compares the logits of some examples.
   *
   * @param raw what is given to the exported model, side by side
   * @param features what the network takes, side by side
   */
  Agreement compare(Backend backend, float[] raw, float[] features, int examples)
      throws OrtException {
    Network network = model.model().network();
    int classes = network.classes();
    double difference = 0;
    int same = 0;
    int positions = 0;
    Forward forward = Forward.of(network, BATCH);
    try (Executable executable = backend.compile(Graph.of(forward.logits()))) {
      write(executable, forward);
      for (int from = 0; from + BATCH <= examples; from += BATCH) {
        float[] part = part(features, from, examples);
        if (network.example().dtype() == DType.I32) {
          executable.input(forward.features()).write(whole(part), 0);
        } else {
          executable.input(forward.features()).write(part, 0);
        }
        executable.run();
        float[] ours = executable.output(0).floats();
        float[] theirs = run(OnnxModel.LOGITS, part(raw, from, examples), BATCH);
        for (int row = 0; row < ours.length / classes; row++) {
          for (int i = row * classes; i < (row + 1) * classes; i++) {
            difference = Math.max(difference, Math.abs(ours[i] - theirs[i]));
          }
          same += best(ours, row, classes) == best(theirs, row, classes) ? 1 : 0;
          positions++;
        }
      }
    }
    return new Agreement(difference, same, positions);
  }

  private void write(Executable executable, Forward forward) {
    Map<String, NamedTensor> tensors = new HashMap<>();
    model.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    for (List<Node> leaves : List.of(forward.parameters(), forward.statistics())) {
      for (Node leaf : leaves) {
        NamedTensor tensor = Objects.requireNonNull(tensors.get(Forward.name(leaf)));
        executable.input(leaf).write(tensor.values(), tensor.from());
      }
    }
  }

  private static float[] part(float[] all, int from, int examples) {
    int width = all.length / examples;
    return Arrays.copyOfRange(all, from * width, (from + BATCH) * width);
  }

  private static int[] whole(float[] values) {
    int[] whole = new int[values.length];
    Arrays.setAll(whole, i -> (int) values[i]);
    return whole;
  }

  private static int best(float[] logits, int row, int classes) {
    int best = 0;
    for (int i = 1; i < classes; i++) {
      best = logits[row * classes + i] > logits[row * classes + best] ? i : best;
    }
    return best;
  }

  @Override
  public void close() throws OrtException {
    session.close();
  }
}
