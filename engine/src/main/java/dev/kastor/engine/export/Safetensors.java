package dev.kastor.engine.export;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.engine.export.ExportFormat.Content;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;

/**
 * Writer of safetensors: the length of the header (8 bytes, little-endian), the header in JSON,
 * padded with spaces to a multiple of 8, then all tensors without holes (Hugging Face, "Safetensors
 * format").
 */
public final class Safetensors {
  private static final int ALIGNMENT = 8;

  /**
   * A tensor of such a file.
   *
   * @param type such as {@code F32} or {@code I64}
   * @param shape its extents; none for one value
   * @param bytes that {@code content} writes: the elements in little-endian order, the last axis
   *     first
   */
  public record Tensor(String name, String type, List<Long> shape, long bytes, Content content) {
    public Tensor {
      shape = List.copyOf(shape);
    }
  }

  private Safetensors() {}

  /**
   * Writes tensors.
   *
   * @param facts texts by name, which readers show
   */
  public static void write(SortedMap<String, String> facts, List<Tensor> tensors, OutputStream out)
      throws IOException {
    byte[] header = header(facts, tensors).toString().getBytes(StandardCharsets.UTF_8);
    byte[] padded = Arrays.copyOf(header, Math.ceilDiv(header.length, ALIGNMENT) * ALIGNMENT);
    Arrays.fill(padded, header.length, padded.length, (byte) ' ');
    ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    out.write(length.putLong(padded.length).array());
    out.write(padded);
    for (Tensor tensor : tensors) {
      tensor.content().writeTo(out);
    }
  }

  static void write(TrainedModel model, OutputStream out) throws IOException {
    write(
        model.facts(),
        model.tensors().stream()
            .map(tensor ->
                new Tensor(
                    tensor.name(),
                    "F32",
                    Arrays.stream(tensor.shape().extents()).mapToObj(Long::valueOf).toList(),
                    tensor.bytes(),
                    tensor::write))
            .toList(),
        out);
  }

  private static ObjectNode header(SortedMap<String, String> facts, List<Tensor> tensors) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    ObjectNode header = json.objectNode();
    ObjectNode metadata = header.putObject("__metadata__");
    facts.forEach(metadata::put);
    long at = 0;
    for (Tensor tensor : tensors) {
      ObjectNode entry = header.putObject(tensor.name());
      entry.put("dtype", tensor.type());
      ArrayNode shape = entry.putArray("shape");
      tensor.shape().forEach(shape::add);
      entry.putArray("data_offsets").add(at).add(at + tensor.bytes());
      at += tensor.bytes();
    }
    return header;
  }
}
