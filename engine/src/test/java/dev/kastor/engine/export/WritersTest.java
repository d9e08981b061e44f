package dev.kastor.engine.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.nn.ConvNet;
import dev.kastor.engine.nn.Initial;
import dev.kastor.engine.nn.Layers;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Model;
import dev.kastor.testkit.GoldenFile;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Laws of the files that exports are written to. */
final class WritersTest {
  /** Read by the Python packages of these formats, too: {@code python/tests/test_export.py}. */
  private static final Path GOLDEN = Path.of("src/test/resources/export");

  private static final Network CONV = new ConvNet(2, 8, 8, 4, List.of(6, 16));

  @Test
  void safetensorsHoldAllValuesUnderTheirNames() throws Exception {
    TrainedModel model = Trained.random(CONV, 3);
    ByteBuffer file = file(ExportFormat.SAFETENSORS, model);
    byte[] header = new byte[(int) file.getLong()];
    file.get(header);
    assertThat(header.length % 8).isZero();
    int data = file.position();
    JsonNode tensors = new JsonMapper().readTree(header);

    assertThat(tensors.path("__metadata__").path("kastor.step").asText()).isEqualTo("7");
    assertThat(tensors.size()).isEqualTo(model.tensors().size() + 1);
    int end = 0;
    for (NamedTensor tensor : model.tensors()) {
      JsonNode entry = tensors.path(tensor.name());
      assertThat(entry.path("dtype").asText()).isEqualTo("F32");
      assertThat(entry.path("shape").toString().replace(" ", ""))
          .isEqualTo(tensor.shape().toString().replace(" ", ""));
      assertThat(entry.path("data_offsets").path(0).asInt()).as("no holes").isEqualTo(end);
      end = entry.path("data_offsets").path(1).asInt();
      assertThat(floats(file, data + entry.path("data_offsets").path(0).asInt(), tensor))
          .isEqualTo(values(tensor));
    }
    assertThat(data + end).isEqualTo(file.limit());
  }

  @Test
  void npzHoldAllValuesUnderTheirNames() throws Exception {
    TrainedModel model = Trained.random(CONV, 4);
    List<String> names = new ArrayList<>();
    try (ZipInputStream zip =
        new ZipInputStream(new ByteArrayInputStream(Trained.bytes(ExportFormat.NPZ, model)))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        NamedTensor tensor = model.tensors().get(names.size());
        names.add(entry.getName());
        assertThat(entry.getName()).isEqualTo(tensor.name() + ".npy");
        ByteBuffer array = ByteBuffer.wrap(zip.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        int header = array.getShort(8);
        assertThat((10 + header) % 64).isZero();
        String text = new String(array.array(), 10, header, StandardCharsets.US_ASCII);
        assertThat(text.replaceAll("[ ,]+", ","))
            .contains("'<f4'")
            .contains(
                tensor
                    .shape()
                    .toString()
                    .replace("[", "(")
                    .replaceAll("[ ,]+", ",")
                    .replace("]", ",)"))
            .endsWith("\n");
        assertThat(floats(array, 10 + header, tensor)).isEqualTo(values(tensor));
      }
    }
    assertThat(names).hasSameSizeAs(model.tensors());
  }

  @ParameterizedTest
  @EnumSource(ExportFormat.class)
  @Tag("never-retried")
  void equalModelsAreEqualFiles(ExportFormat format) throws Exception {
    assertThat(Trained.bytes(format, Trained.random(CONV, 5)))
        .isEqualTo(Trained.bytes(format, Trained.random(CONV, 5)))
        .isNotEqualTo(Trained.bytes(format, Trained.random(CONV, 6)));
  }

  /** Values that somebody can tell without the file: i / 2 - 1. */
  private static TrainedModel tiny() throws ExportException {
    float[] parameters = new float[3 * 2 + 2];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = i / 2f - 1;
    }
    Model model =
        new Model(
            new Mlp(3, List.of(), 2),
            new Inputs.Numbers(
                List.of("a", "b", "c"), new float[] {1, 2, 3}, new float[] {1, 1, 2}),
            List.of("no", "yes"));
    return Trained.of(model, parameters, new float[0]);
  }

  @ParameterizedTest
  @EnumSource(ExportFormat.class)
  @Tag("never-retried")
  void filesStayAsTheyAre(ExportFormat format) throws Exception {
    byte[] bytes = Trained.bytes(format, tiny());
    GoldenFile.at(GOLDEN.resolve("tiny." + format.name().toLowerCase(Locale.ROOT))).holds(bytes);
  }

  @Test
  void namesThatCannotBeFilesAreRefused() {
    for (String name : List.of("", "a/b", "../a", "a b", "__metadata__", "ä")) {
      assertThatThrownBy(() -> Trained.random(labelled(name, "x"), 1))
          .isInstanceOf(ExportException.class)
          .hasMessageContaining("no name for a parameter");
    }
    assertThatThrownBy(() -> Trained.random(labelled("x", "x"), 1))
        .isInstanceOf(ExportException.class)
        .hasMessageContaining("Two parameters");
  }

  @Test
  void weightsAboveTwoGigabytesAreNoOnnx() throws Exception {
    TrainedModel small = tiny();
    NamedTensor large = new NamedTensor("large", Shape.of(1 << 20), new float[1 << 20], 0);
    TrainedModel model =
        new TrainedModel(small.model(), Collections.nCopies(513, large), new TreeMap<>());

    assertThatThrownBy(() -> ExportFormat.ONNX.of(model))
        .isInstanceOf(ExportException.class)
        .hasMessageContaining("2 GiB")
        .hasMessageContaining("safetensors");
  }

  @Tag("slow")
  @Test
  void theMeaningOfInputsCanBeReadAgain() throws Exception {
    Inputs pixels = new Inputs.Pixels(2, 3, 1, 255, 255, 0.5f, 2);
    assertThat(InputsJson.inputs(InputsJson.write(pixels))).isEqualTo(pixels);
    assertThat(InputsJson.labels(InputsJson.write(List.of("ä", "\"b\""))))
        .containsExactly("ä", "\"b\"");
    assertThatThrownBy(() -> InputsJson.inputs("{}")).isInstanceOf(ExportException.class);
  }

  private static Network labelled(String first, String second) {
    return new Network() {
      @Override
      public Type example() {
        return Type.f32(2);
      }

      @Override
      public int positions() {
        return 1;
      }

      @Override
      public int classes() {
        return 2;
      }

      @Override
      public Node logits(Layers layers, Node features) {
        Node one = layers.parameter(first, Shape.of(2, 2), Initial.ZEROS);
        return features.matMul(one.add(layers.parameter(second, Shape.of(2, 2), Initial.ONES)));
      }
    };
  }

  private static ByteBuffer file(ExportFormat format, TrainedModel model) throws Exception {
    return ByteBuffer.wrap(Trained.bytes(format, model)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static float[] floats(ByteBuffer from, int at, NamedTensor tensor) {
    float[] floats = new float[tensor.shape().elements()];
    from.slice(at, floats.length * Float.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .asFloatBuffer()
        .get(floats);
    return floats;
  }

  private static float[] values(NamedTensor tensor) {
    int end = tensor.from() + tensor.shape().elements();
    return Arrays.copyOfRange(tensor.values(), tensor.from(), end);
  }
}
