package dev.kastor.operator.web;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.engine.export.ExportFormat;
import dev.kastor.engine.export.NamedTensor;
import dev.kastor.engine.export.TrainedModel;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Update;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A network for glyphs that was trained for some steps, with its file.
 *
 * @param file as {@code kastor export} writes it
 */
// The bytes are written once and never changed.
@SuppressWarnings("ArrayRecordComponent")
record ExportedGlyphs(String program, TrainedModel model, byte[] file) {
  static final int SIDE = 16;

  private static final int BATCH = 32;
  private static final double LEARNING_RATE = 0.05;

  static ExportedGlyphs train(String name, Map<String, String> given, int steps) throws Exception {
    Program program = Programs.get(name);
    Map<String, String> parameters = new HashMap<>(program.defaultParameters());
    parameters.putAll(given);
    parameters.put("backend", "reference");
    parameters.put("trainingExamples", Integer.toString(BATCH * steps));
    parameters.put("heldOutExamples", "1");
    Model model = Programs.model(name, parameters, Path.of("none"));
    try (Trainable trainable = program.load(parameters)) {
      Optimizer optimizer = program.optimizer(parameters);
      float[] gradient = new float[trainable.parameters().length];
      float[] statistics = new float[trainable.statistics().length];
      var slots = optimizer.newSlots(trainable.layout());
      for (int step = 0; step < steps; step++) {
        int[] examples = IntStream.range(step * BATCH, (step + 1) * BATCH).toArray();
        trainable.pass(examples, gradient, statistics);
        optimizer.apply(
            new Update(
                trainable.layout(), trainable.parameters(), gradient, slots, LEARNING_RATE, step));
        trainable.applyStatistics(statistics);
      }
      TrainedModel trained =
          TrainedModel.of(
              model,
              new TrainedParameters(
                  steps, trainable.parameters().clone(), trainable.statistics().clone()),
              new TreeMap<>(Map.of("job", "default/digits", "program", name)));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ExportFormat.ONNX.of(trained).writeTo(out);
      return new ExportedGlyphs(name, trained, out.toByteArray());
    }
  }

  /** Images that no network was trained on. */
  static float[] heldOut(int examples) {
    return new GlyphImages(1, SIDE, 1).draw(1, examples).heldOut().pixels();
  }

  /** Logits by the engine, of images side by side. */
  float[] logits(float[] pixels) {
    Forward forward = Forward.of(model.model().network(), pixels.length / SIDE / SIDE);
    Map<String, NamedTensor> tensors = new HashMap<>();
    model.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    try (Executable executable = new ReferenceBackend().compile(Graph.of(forward.logits()))) {
      for (List<Node> leaves : List.of(forward.parameters(), forward.statistics())) {
        for (Node leaf : leaves) {
          NamedTensor tensor = Objects.requireNonNull(tensors.get(Forward.name(leaf)));
          executable.input(leaf).write(tensor.values(), tensor.from());
        }
      }
      executable.input(forward.features()).write(pixels, 0);
      executable.run();
      return executable.output(0).floats();
    }
  }

  static byte[] bytes(float[] values) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }
}
