package dev.kastor.engine.export;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writer of safetensors: the length of the header (8 bytes, little-endian), the header in JSON,
 * padded with spaces to a multiple of 8, then all tensors without holes (Hugging Face, "Safetensors
 * format").
 */
final class Safetensors {
  private static final int ALIGNMENT = 8;

  private Safetensors() {}

  static void write(TrainedModel model, OutputStream out) throws IOException {
    byte[] header = header(model).toString().getBytes(StandardCharsets.UTF_8);
    byte[] padded = Arrays.copyOf(header, Math.ceilDiv(header.length, ALIGNMENT) * ALIGNMENT);
    Arrays.fill(padded, header.length, padded.length, (byte) ' ');
    ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    out.write(length.putLong(padded.length).array());
    out.write(padded);
    for (NamedTensor tensor : model.tensors()) {
      tensor.write(out);
    }
  }

  private static ObjectNode header(TrainedModel model) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    ObjectNode header = json.objectNode();
    ObjectNode facts = header.putObject("__metadata__");
    model.facts().forEach(facts::put);
    long at = 0;
    for (NamedTensor tensor : model.tensors()) {
      ObjectNode entry = header.putObject(tensor.name());
      entry.put("dtype", "F32");
      ArrayNode shape = entry.putArray("shape");
      for (int extent : tensor.shape().extents()) {
        shape.add(extent);
      }
      entry.putArray("data_offsets").add(at).add(at + tensor.bytes());
      at += tensor.bytes();
    }
    return header;
  }
}
