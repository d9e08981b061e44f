package dev.kastor.cli.predict;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

/** Model of a file in ONNX Runtime. */
final class OnnxModelFile implements AutoCloseable {
  private static final String PROBABILITIES = "probabilities";

  private final Path file;
  private final OrtEnvironment environment;
  private final OrtSession session;

  OnnxModelFile(Path file) {
    this.file = file;
    // A pipe would be waited for, and a device never ends.
    if (!Files.isRegularFile(file)) {
      throw new CliException(ExitCode.FAILED, "%s is no regular file".formatted(file));
    }
    try {
      environment = OrtEnvironment.getEnvironment();
      session = environment.createSession(file.toString());
    } catch (OrtException e) {
      throw failed(e);
    }
  }

  /** Texts that came with the model. */
  Map<String, String> facts() {
    try {
      return session.getMetadata().getCustomMetadata();
    } catch (OrtException e) {
      throw failed(e);
    }
  }

  /**
   * Probabilities of all classes, for each example and each of its positions.
   *
   * @param values examples side by side
   */
  float[] probabilities(float[] values, int examples) {
    try {
      String input = session.getInputNames().iterator().next();
      TensorInfo info =
          (TensorInfo) Objects.requireNonNull(session.getInputInfo().get(input)).getInfo();
      long[] shape = info.getShape();
      shape[0] = examples;
      try (OnnxTensor tensor =
              info.type == OnnxJavaType.FLOAT
                  ? OnnxTensor.createTensor(environment, FloatBuffer.wrap(values), shape)
                  : OnnxTensor.createTensor(environment, IntBuffer.wrap(whole(values)), shape);
          OrtSession.Result result = session.run(Map.of(input, tensor))) {
        OnnxTensor probabilities =
            (OnnxTensor)
                result
                    .get(PROBABILITIES)
                    .orElseThrow(() ->
                        new CliException(
                            ExitCode.FAILED,
                            "%s has no result '%s': it is no model that kastor export wrote"
                                .formatted(file, PROBABILITIES)));
        FloatBuffer buffer = probabilities.getFloatBuffer();
        float[] floats = new float[buffer.remaining()];
        buffer.get(floats);
        return floats;
      }
    } catch (OrtException e) {
      throw failed(e);
    }
  }

  private static int[] whole(float[] values) {
    int[] whole = new int[values.length];
    Arrays.setAll(whole, i -> (int) values[i]);
    return whole;
  }

  private CliException failed(OrtException e) {
    return new CliException(
        ExitCode.FAILED, "%s cannot be used: %s".formatted(file, e.getMessage()), e);
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (OrtException e) {
      throw failed(e);
    }
  }
}
