package dev.kastor.engine.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.data.Buckets;
import dev.kastor.engine.data.CategoryTable;
import dev.kastor.engine.data.CsvDataset;
import dev.kastor.engine.data.Examples;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.engine.data.IdxDataset;
import dev.kastor.engine.data.ImageFolder;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.data.PlainTextDataset;
import dev.kastor.engine.data.Sentences;
import dev.kastor.engine.data.Stories;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Update;
import dev.kastor.testkit.Requirement;
import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Each program, trained for a few steps and exported, computes from what files hold what Kastor
 * computes from the features of 1,000 held-out examples.
 */
final class OnnxProgramsIT {
  private static final Logger LOG = LoggerFactory.getLogger(OnnxProgramsIT.class);
  private static final int EXAMPLES = 1000;
  private static final int STEPS = 20;
  private static final int BATCH = 32;

  @TempDir Path folder;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Case(float[] raw, float[] features) {}

  @Test
  void glyphs() throws Exception {
    LabelledImages drawn = new GlyphImages(1, 16, 1).draw(1, EXAMPLES);
    float[] pixels = drawn.heldOut().pixels();
    agrees("glyph-mlp", Map.of(), 0.05, new Case(pixels, pixels));
    agrees("glyph-cnn", Map.of(), 0.05, new Case(pixels, pixels));
  }

  @Test
  void stories() throws Exception {
    float[] bytes = windows(Stories.load().heldOut());
    agrees("byte-lm", Map.of(), 0.002, new Case(bytes, bytes));
  }

  @Test
  void textOfAFile() throws Exception {
    StringBuilder text = new StringBuilder();
    SplittableRandom random = new SplittableRandom(4);
    while (text.length() < 700_000) {
      text.append((char) ('a' + random.nextInt(26))).append(random.nextInt(9) == 0 ? " " : "");
    }
    Path file = Files.writeString(folder.resolve("text.txt"), text);
    float[] bytes = windows(PlainTextDataset.read(file, 100).heldOut());
    agrees("text-lm", Map.of("data", file.toString()), 0.002, new Case(bytes, bytes));
  }

  @Test
  void sentencesOfAFile() throws Exception {
    SplittableRandom random = new SplittableRandom(6);
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 2 * EXAMPLES; i++) {
      String sentence = "ab cd ".repeat(1 + random.nextInt(8)).strip();
      boolean asks = random.nextBoolean();
      lines.append(asks ? "asks" : "says").append('\t').append(sentence);
      lines.append(asks ? "?\n" : ".\n");
    }
    Path file = Files.writeString(folder.resolve("sentences.tsv"), lines);
    float[] tokens = features(Sentences.read(file, 32, 2).heldOut(), 32);
    Map<String, String> given =
        Map.of("data", file.toString(), "holdOutEvery", "2", "context", "32", "cell", "gru");
    assertThat(agrees("text-rnn", given, 0.01, new Case(tokens, tokens)).get("kastor.labels"))
        .isEqualTo("[\"asks\",\"says\"]");
  }

  private static float[] windows(byte[] text) {
    float[] bytes = new float[EXAMPLES * 64];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = text[i % text.length] & 0xff;
    }
    return bytes;
  }

  @Test
  void columnsOfATable() throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    StringBuilder csv = new StringBuilder("a,b,c,d,label\n");
    List<float[]> rows = new ArrayList<>();
    for (int i = 0; i < 2 * EXAMPLES; i++) {
      float[] row = new float[4];
      for (int c = 0; c < row.length; c++) {
        row[c] = (float) (random.nextGaussian() * Math.pow(10, c) + 7 * c);
        csv.append(row[c]).append(',');
      }
      csv.append(row[0] > 0 ? "up" : "down").append('\n');
      if (i % 2 == 1) {
        rows.add(row);
      }
    }
    Path file = Files.writeString(folder.resolve("numbers.csv"), csv);
    CsvDataset table = CsvDataset.read(file, "label", 2);
    LabelledImages images = table.images().with(table.images().standard(true));
    Case each = new Case(flat(rows), features(images.heldOut(), 4));
    Map<String, String> given = Map.of("data", file.toString(), "holdOutEvery", "2");
    assertThat(agrees("image-mlp", given, 0.05, each).get("kastor.labels"))
        .isEqualTo("[\"down\",\"up\"]");
    // The columns make a square, which a convolution takes for an image.
    Map<String, String> square = new LinkedHashMap<>(given);
    square.put("channels", "8");
    agrees("image-cnn", square, 0.05, each);
  }

  private static float[] flat(List<float[]> rows) {
    float[] flat = new float[rows.size() * rows.getFirst().length];
    for (int i = 0; i < flat.length; i++) {
      flat[i] = rows.get(i / rows.getFirst().length)[i % rows.getFirst().length];
    }
    return flat;
  }

  private static float[] features(Examples examples, int width) {
    float[] features = new float[EXAMPLES * width];
    examples.gather(IntStream.range(0, EXAMPLES).toArray(), features, new int[EXAMPLES]);
    return features;
  }

  @Test
  void idxFiles() throws Exception {
    int side = 8;
    byte[] heldOut = idx("t10k", EXAMPLES, side);
    idx("train", 200, side);
    LabelledImages images = IdxDataset.readFolder(folder);
    Case each =
        new Case(
            unsigned(heldOut),
            features(images.with(images.standard(false)).heldOut(), side * side));
    agrees("image-mlp", Map.of("data", folder.toString()), 0.05, each);
  }

  private byte[] idx(String part, int count, int side) throws Exception {
    byte[] pixels = new byte[count * side * side];
    new SplittableRandom(count).nextBytes(pixels);
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      labels[i] = (byte) (i % 3);
    }
    ByteBuffer images = ByteBuffer.allocate(16 + pixels.length);
    images.putInt(0x0803).putInt(count).putInt(side).putInt(side).put(pixels);
    Files.write(folder.resolve(part + "-images-idx3-ubyte"), images.array());
    ByteBuffer classes = ByteBuffer.allocate(8 + count).putInt(0x0801).putInt(count).put(labels);
    Files.write(folder.resolve(part + "-labels-idx1-ubyte"), classes.array());
    return pixels;
  }

  private static float[] unsigned(byte[] bytes) {
    float[] floats = new float[bytes.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = bytes[i] & 0xff;
    }
    return floats;
  }

  @Test
  void foldersOfImages() throws Exception {
    int side = 8;
    png("train", 60, side);
    List<float[]> raw = png("test", EXAMPLES, side);
    ImageFolder read =
        ImageFolder.read(folder, new ImageFolder.Rules(10, 0, ImageFolder.Colours.AUTO));
    Case each = new Case(flat(raw), features(read.heldOut(), side * side * 3));
    Map<String, String> facts = agrees("image-cnn", Map.of("data", folder.toString()), 0.05, each);
    assertThat(facts.get("kastor.labels")).isEqualTo("[\"cat\",\"dog\"]");
  }

  /** Images of two classes, those of the first one first. */
  private List<float[]> png(String part, int count, int side) throws Exception {
    SplittableRandom random = new SplittableRandom(count);
    List<float[]> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
      float[] raw = new float[side * side * 3];
      for (int p = 0; p < side * side; p++) {
        int rgb = random.nextInt(1 << 24);
        image.setRGB(p % side, p / side, rgb);
        raw[3 * p] = rgb >> 16;
        raw[3 * p + 1] = (rgb >> 8) & 0xff;
        raw[3 * p + 2] = rgb & 0xff;
      }
      values.add(raw);
      Path of = folder.resolve(part).resolve(2 * i < count ? "cat" : "dog");
      Files.createDirectories(of);
      ImageIO.write(image, "png", of.resolve("%05d.png".formatted(i)).toFile());
    }
    return values;
  }

  @Test
  void categoriesOfATable() throws Exception {
    SplittableRandom random = new SplittableRandom(6);
    StringBuilder csv = new StringBuilder("city,id,price,size,label\n");
    List<List<String>> rows = new ArrayList<>();
    for (int i = 0; i < 2 * EXAMPLES; i++) {
      List<String> row =
          List.of(
              "city" + random.nextInt(9),
              "user-" + random.nextInt(700),
              random.nextInt(20) == 0 ? "" : Double.toString(random.nextGaussian()),
              Integer.toString(random.nextInt(30)));
      csv.append(String.join(",", row)).append(random.nextBoolean() ? ",yes\n" : ",no\n");
      if (i % 2 == 1) {
        rows.add(row);
      }
    }
    Path file =
        Files.write(folder.resolve("t.csv"), csv.toString().getBytes(StandardCharsets.UTF_8));
    Map<String, String> given = Map.of("data", file.toString(), "holdOutEvery", "2");
    Model model = Programs.model("table-wide-deep", given, folder);
    Inputs.Categories inputs = (Inputs.Categories) model.inputs();
    // What another reader knows is the text of the facts.
    inputs = (Inputs.Categories) InputsJson.inputs(InputsJson.write(inputs));
    assertThat(inputs.columns().stream().map(each -> each.buckets().getClass().getSimpleName()))
        .containsExactly("Values", "Hashed", "Ranges", "Values");
    float[] raw = new float[EXAMPLES * 4];
    for (int i = 0; i < raw.length; i++) {
      raw[i] = inputs.columns().get(i % 4).buckets().of(rows.get(i / 4).get(i % 4));
      assertThat(raw[i]).isNotEqualTo(Buckets.UNKNOWN);
    }
    CategoryTable table =
        CategoryTable.read(
            file,
            "label",
            2,
            columns -> new CategoryTable.Rules(64, 1024, CategoryTable.Rules.all(columns)));
    Case each = new Case(raw, features(table.heldOut(), table.heldOut().width()));
    agrees("table-wide-deep", given, 0.01, each);
    agrees("table-wide-deep", with(given, "crosses", "none"), 0.01, withoutPairs(each, 10, 4));
  }

  private static Map<String, String> with(Map<String, String> given, String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(given);
    more.put(name, value);
    return more;
  }

  private static Case withoutPairs(Case all, int width, int columns) {
    float[] features = new float[EXAMPLES * columns];
    for (int i = 0; i < features.length; i++) {
      features[i] = all.features[i / columns * width + i % columns];
    }
    return new Case(all.raw, features);
  }

  private Map<String, String> agrees(
      String name, Map<String, String> given, double learningRate, Case each) throws Exception {
    var choice = Backends.fastest(1);
    Requirement.ONEDNN.check(choice.backend().name().equals("cpu"), choice.reason());
    TrainedModel model = trained(name, given, learningRate);
    try (OnnxSession session = new OnnxSession(model)) {
      OnnxSession.Agreement agreement =
          session.compare(choice.backend(), each.raw, each.features, EXAMPLES);
      LOG.info("{}: {}", name, agreement);
      assertThat(agreement.difference()).isLessThan(1e-4);
      // Two classes may be as good as equal.
      assertThat(agreement.positions() - agreement.sameClass())
          .isLessThanOrEqualTo(agreement.positions() / 1000);
      float[] probabilities = session.run(OnnxModel.PROBABILITIES, first(each.raw), 1);
      double sum = 0;
      for (float probability : probabilities) {
        sum += probability;
      }
      assertThat(sum).isCloseTo(model.model().network().positions(), within(1e-3));
      return session.facts();
    }
  }

  private static float[] first(float[] raw) {
    return Arrays.copyOf(raw, raw.length / EXAMPLES);
  }

  private TrainedModel trained(String name, Map<String, String> given, double learningRate)
      throws Exception {
    Program program = Programs.get(name);
    Map<String, String> parameters = new LinkedHashMap<>(program.defaultParameters());
    parameters.putAll(given);
    Model model = Programs.model(name, given, folder);
    try (Trainable trainable = program.load(parameters)) {
      Optimizer optimizer = program.optimizer(parameters);
      float[] gradient = new float[trainable.parameters().length];
      float[] statistics = new float[trainable.statistics().length];
      var slots = optimizer.newSlots(trainable.layout());
      for (int step = 0; step < STEPS; step++) {
        int first = step * BATCH;
        int[] examples =
            IntStream.range(0, BATCH)
                .map(i -> (first + i) % trainable.trainingExamples())
                .toArray();
        trainable.pass(examples, gradient, statistics);
        optimizer.apply(
            new Update(
                trainable.layout(), trainable.parameters(), gradient, slots, learningRate, step));
        trainable.applyStatistics(statistics);
      }
      return Trained.of(model, trainable.parameters().clone(), trainable.statistics().clone());
    }
  }
}
