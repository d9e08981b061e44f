package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.testkit.GoldenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bits that shipped programs train to, computed by plain loops: a change that shall change nothing
 * keeps them. They are rewritten by {@code -Dkastor.golden.write=true}.
 */
@Tag("never-retried")
class TrainedBitsTest {
  private static final Path GOLDEN = Path.of("src/test/resources/trained-bits.txt");
  private static final int STEPS = 50;
  private static final Map<String, String> SIZES =
      Map.of(
          "trainingExamples",
          "60",
          "heldOutExamples",
          "20",
          "hidden",
          "8",
          "channels",
          "4",
          "width",
          "8",
          "context",
          "8",
          "layers",
          "1");

  @TempDir private Path folder;

  @Tag("slow")
  @Test
  void defaultsTrainToTheBitsOfTheGoldenFile() throws Exception {
    List<String> lines = new ArrayList<>();
    for (Program program : Programs.all()) {
      String alone = trained(program, 1, new BatchPlan(8, 0));
      String together = trained(program, 2, new BatchPlan(4, 0));
      assertThat(together).isEqualTo(trained(program, 1, new BatchPlan(4, 1)));
      lines.add("%s 1 %s".formatted(program.name(), alone));
      lines.add("%s 2 %s".formatted(program.name(), together));
    }
    assertThat(lines).doesNotHaveDuplicates();
    // The exponential function of the JDK has other last bits on other processors.
    assumeThat(System.getProperty("os.arch")).isEqualTo("amd64");
    GoldenFile.at(GOLDEN).holds(lines);
  }

  private String trained(Program program, int size, BatchPlan plan) throws Exception {
    Map<String, String> parameters = small(program);
    TrainingSettings settings =
        new TrainingSettings(
            4,
            0.02,
            new AdaScale(),
            new Work.Steps(STEPS),
            3,
            Duration.ofDays(1),
            Duration.ofDays(1));
    List<Trainable> models = new ArrayList<>();
    List<Replica> replicas = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      Trainable model = program.load(parameters);
      models.add(model);
      replicas.add(new Replica(model, program.optimizer(parameters), settings));
    }
    try {
      for (int step = 0; step < STEPS; step++) {
        step(replicas, plan);
      }
      String bits = bits(models.getFirst());
      for (Trainable model : models) {
        assertThat(bits(model)).isEqualTo(bits);
      }
      return bits;
    } finally {
      models.forEach(Trainable::close);
    }
  }

  private static void step(List<Replica> replicas, BatchPlan plan) throws DivergedException {
    List<LocalStep> all = new ArrayList<>();
    for (Replica replica : replicas) {
      all.add(replica.compute(plan, replicas.size(), all.size(), _ -> {}));
    }
    sum(replicas.stream().map(Replica::gradient).toList());
    sum(replicas.stream().map(Replica::batchStatistics).toList());
    for (Replica replica : replicas) {
      replica.apply(all, plan);
    }
  }

  /** Makes each vector the sum of all. */
  private static void sum(List<float[]> vectors) {
    float[] sum = new float[vectors.getFirst().length];
    for (float[] vector : vectors) {
      for (int i = 0; i < sum.length; i++) {
        sum[i] += vector[i];
      }
    }
    vectors.forEach(vector -> System.arraycopy(sum, 0, vector, 0, sum.length));
  }

  private static String bits(Trainable model) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (float[] vector : List.of(model.parameters(), model.statistics())) {
      ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES);
      bytes.asFloatBuffer().put(vector);
      digest.update(bytes);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Parameters that make a program small and give it a file where it needs one. */
  private Map<String, String> small(Program program) throws IOException {
    Map<String, String> small = new HashMap<>(program.defaultParameters());
    SIZES.forEach((name, value) -> small.computeIfPresent(name, (_, _) -> value));
    small.put("backend", "reference");
    if (program.name().startsWith("image-") || program.name().startsWith("table-")) {
      StringBuilder csv = new StringBuilder("a,b,c,d,label\n");
      for (int i = 0; i < 40; i++) {
        csv.append("%d,%d,%d,%d,%s\n".formatted(i, i % 3, -i, i * i, i % 2 == 0 ? "x" : "y"));
      }
      small.put("data", write("d.csv", csv.toString()));
      small.computeIfPresent("format", (_, _) -> "csv");
    } else if (program.name().equals("text-lm")) {
      small.put("data", write("d.txt", "to be or not to be ".repeat(40)));
    } else if (program.name().equals("text-rnn")) {
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < 40; i++) {
        lines.append("%s\t%s\n".formatted(i % 2 == 0 ? "x" : "y", "ab".repeat(1 + i % 7) + i % 2));
      }
      small.put("data", write("d.tsv", lines.toString()));
    }
    return small;
  }

  private String write(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content, StandardCharsets.UTF_8).toString();
  }
}
