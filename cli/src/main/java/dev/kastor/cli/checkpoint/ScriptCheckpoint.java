package dev.kastor.cli.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.engine.checkpoint.CheckpointException;
import dev.kastor.engine.export.Safetensors;
import dev.kastor.engine.export.Safetensors.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;

/**
 * Checkpoint that the Python client wrote: a header in JSON, and the bytes of tensors, each with a
 * CRC-32 ({@code kastor/checkpoint.py}).
 *
 * @param step after which it was saved
 * @param model tensors of the model's {@code state_dict}, by their names in order
 * @param leftOut entries of it that are no tensors
 */
record ScriptCheckpoint(long step, List<Tensor> model, List<String> leftOut) {
  private static final byte[] MAGIC = "KASTORP1".getBytes(StandardCharsets.US_ASCII);
  private static final int START = MAGIC.length + Long.BYTES + Integer.BYTES;
  private static final int MOST_HEADER = 1 << 28;
  private static final int PIECE = 1 << 16;
  private static final JsonMapper JSON = new JsonMapper();

  /** Types by the names of PyTorch, as safetensors calls them. */
  private static final Map<String, String> TYPES =
      Map.ofEntries(
          Map.entry("float64", "F64"),
          Map.entry("float32", "F32"),
          Map.entry("float16", "F16"),
          Map.entry("bfloat16", "BF16"),
          Map.entry("float8_e4m3fn", "F8_E4M3"),
          Map.entry("float8_e5m2", "F8_E5M2"),
          Map.entry("int64", "I64"),
          Map.entry("int32", "I32"),
          Map.entry("int16", "I16"),
          Map.entry("int8", "I8"),
          Map.entry("uint8", "U8"),
          Map.entry("bool", "BOOL"));

  ScriptCheckpoint {
    model = List.copyOf(model);
    leftOut = List.copyOf(leftOut);
  }

  /**
   * Reads the header of a checkpoint and checks the bytes of the model's tensors, which are read
   * again when they are written.
   *
   * @param uid of the job that must have written it
   * @throws CheckpointException if it is none, is damaged, is of another job, or has a tensor of a
   *     type that safetensors cannot have
   */
  static ScriptCheckpoint read(Path file, String uid) throws IOException {
    JsonNode header;
    long first;
    try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
      if (in.length() < START) {
        throw damaged(file, "it is no checkpoint of the Python client");
      }
      byte[] start = new byte[START];
      in.readFully(start);
      ByteBuffer numbers =
          ByteBuffer.wrap(start, MAGIC.length, START - MAGIC.length).order(ByteOrder.LITTLE_ENDIAN);
      long length = numbers.getLong();
      int code = numbers.getInt();
      if (!Arrays.equals(start, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
        throw damaged(file, "it is no checkpoint of the Python client");
      }
      if (length < 0 || length > Math.min(MOST_HEADER, in.length() - START)) {
        throw damaged(file, "its header is damaged");
      }
      byte[] text = new byte[(int) length];
      in.readFully(text);
      CRC32 sum = new CRC32();
      sum.update(text);
      if ((int) sum.getValue() != code) {
        throw damaged(file, "its header is damaged");
      }
      header = JSON.readTree(text);
      first = START + length;
    }
    if (!header.path("job").asText().equals(uid)) {
      throw damaged(file, "it is of another job, %s".formatted(header.path("job").asText()));
    }
    List<Tensor> model = new ArrayList<>();
    List<String> leftOut = new ArrayList<>();
    for (JsonNode entry : entry(entry(header.path("form"), "parts"), "model").path("d")) {
      String name = entry.path(0).asText();
      JsonNode place = entry.path(1).path("x");
      if (place.isInt()) {
        model.add(tensor(file, name, header.path("table").path(place.asInt()), first));
      } else {
        leftOut.add(name);
      }
    }
    if (model.isEmpty()) {
      throw damaged(file, "it holds no model");
    }
    model.sort(Comparator.comparing(Tensor::name));
    return new ScriptCheckpoint(header.path("step").asLong(), model, leftOut);
  }

  /** Writes the model as safetensors, with facts about where it comes from. */
  void write(SortedMap<String, String> facts, OutputStream out) throws IOException {
    SortedMap<String, String> all = new TreeMap<>(facts);
    // As the libraries that read such files know those of PyTorch.
    all.put("format", "pt");
    all.put("kastor.step", Long.toString(step));
    Safetensors.write(all, model, out);
  }

  /** Bytes of all tensors of the model. */
  long bytes() {
    return model.stream().mapToLong(Tensor::bytes).sum();
  }

  /** Value of a name in a mapping, which the form writes as a list of pairs. */
  private static JsonNode entry(JsonNode mapping, String name) {
    return StreamSupport.stream(mapping.path("d").spliterator(), false)
        .filter(pair -> pair.path(0).asText().equals(name))
        .findFirst()
        .map(pair -> pair.path(1))
        .orElse(JSON.missingNode());
  }

  private static Tensor tensor(Path file, String name, JsonNode row, long first)
      throws IOException {
    String type = TYPES.get(row.path(0).asText());
    if (type == null) {
      throw damaged(
          file,
          "%s has the type '%s', which safetensors cannot have"
              .formatted(name, row.path(0).asText()));
    }
    List<Long> shape = new ArrayList<>();
    row.path(1).forEach(extent -> shape.add(extent.asLong()));
    long from = first + row.path(2).asLong();
    long bytes = row.path(3).asLong();
    try (CheckedOutputStream sum =
        new CheckedOutputStream(OutputStream.nullOutputStream(), new CRC32())) {
      copy(file, from, bytes, sum);
      if (sum.getChecksum().getValue() != row.path(4).asLong()) {
        throw damaged(file, "tensor %s is damaged".formatted(name));
      }
    }
    return new Tensor(name, type, shape, bytes, out -> copy(file, from, bytes, out));
  }

  private static void copy(Path file, long from, long bytes, OutputStream out) throws IOException {
    byte[] piece = new byte[PIECE];
    try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
      in.seek(from);
      for (long left = bytes; left > 0; ) {
        int read = in.read(piece, 0, (int) Math.min(left, PIECE));
        if (read < 0) {
          throw damaged(file, "it is cut short");
        }
        out.write(piece, 0, read);
        left -= read;
      }
    }
  }

  private static CheckpointException damaged(Path file, String why) {
    return new CheckpointException("%s: %s".formatted(file, why));
  }
}
