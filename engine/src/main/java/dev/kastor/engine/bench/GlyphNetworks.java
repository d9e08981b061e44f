package dev.kastor.engine.bench;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.engine.export.ExportException;
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
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Update;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Networks for glyphs that were trained for a moment, each with its file, and what the engine
 * answers to images that it was not trained on.
 */
public final class GlyphNetworks {
  /** Rows and columns of an image, of one channel. */
  public static final int SIDE = 16;

  private static final List<String> PROGRAMS = List.of("glyph-mlp", "glyph-cnn");
  private static final int BATCH = 32;
  private static final double LEARNING_RATE = 0.05;

  private GlyphNetworks() {}

  /**
   * Writes {@code images.f32}, and of each network {@code NAME.onnx} and {@code NAME.f32}, its
   * logits; prints the name of each as a line of JSON. The arguments are the folder, the number of
   * images and that of training steps.
   */
  public static void main(String[] arguments)
      throws IOException, ProgramException, ExportException {
    if (arguments.length != 3
        || !arguments[1].matches("[1-9][0-9]{0,5}")
        || !arguments[2].matches("[1-9][0-9]{0,5}")) {
      System.err.println("Usage: GlyphNetworks FOLDER IMAGES STEPS");
      System.exit(2);
    }
    Path folder = Path.of(arguments[0]);
    float[] pixels = heldOut(Integer.parseInt(arguments[1]));
    Files.write(folder.resolve("images.f32"), bytes(pixels));
    Backend backend = Backends.fastest(1).backend();
    for (String name : PROGRAMS) {
      TrainedModel model = train(name, Map.of(), Integer.parseInt(arguments[2]));
      try (OutputStream out = Files.newOutputStream(folder.resolve(name + ".onnx"))) {
        ExportFormat.ONNX.of(model).writeTo(out);
      }
      Files.write(folder.resolve(name + ".f32"), bytes(logits(model, backend, pixels)));
      System.out.printf("{\"program\": \"%s\"}%n", name);
    }
  }

  /**
   * Trains a network.
   *
   * @param name of the program
   * @param given parameters of it that differ from its defaults
   */
  public static TrainedModel train(String name, Map<String, String> given, int steps)
      throws ProgramException, ExportException {
    Program program = Programs.get(name);
    Map<String, String> parameters = new HashMap<>(program.defaultParameters());
    parameters.put("trainingExamples", Integer.toString(BATCH * steps));
    parameters.put("heldOutExamples", "1");
    parameters.putAll(given);
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
      return TrainedModel.of(
          model,
          new TrainedParameters(
              steps, trainable.parameters().clone(), trainable.statistics().clone()),
          new TreeMap<>(Map.of("job", "default/digits", "program", name)));
    }
  }

  /** Images that no network was trained on, side by side. */
  public static float[] heldOut(int images) {
    return new GlyphImages(1, SIDE, 1).draw(1, images).heldOut().pixels();
  }

  /** Logits of the engine for images side by side. */
  public static float[] logits(TrainedModel model, Backend backend, float[] pixels) {
    Forward forward = Forward.of(model.model().network(), pixels.length / SIDE / SIDE);
    Map<String, NamedTensor> tensors = new HashMap<>();
    model.tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    try (Executable executable = backend.compile(Graph.of(forward.logits()))) {
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

  /** Values as little-endian 32-bit floats. */
  public static byte[] bytes(float[] values) {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }
}
