package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.bench.GpuProcess;
import dev.kastor.engine.nn.Batch;
import dev.kastor.engine.nn.DeviceUpdate;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.train.Optimizer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Training whose vectors stay on a GPU, through JCuda's real binding against the driver of the
 * tests, which does what is begun as late as it may.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DeviceTrainingIT {
  private static final int FEATURES = 4;
  private static final int EXAMPLES = 3;
  private static final int PASSES = 2;

  private FakeDriver driver;

  @BeforeAll
  void install(@TempDir Path folder) throws Exception {
    assumeThat(Path.of("/proc/driver/nvidia")).as("a driver of NVIDIA's").doesNotExist();
    driver = FakeDriver.install(folder);
  }

  /** A model with its update; slots are those of the host. */
  private record Trained(
      GraphModel model, DeviceUpdate update, SequencedMap<String, float[]> slots) {
    static Trained on(Backend backend) {
      Optimizer adam = new Adam(0.9, 0.99, 1e-8, 0.1);
      GraphModel model = new GraphModel(new Mlp(FEATURES, List.of(33, 20), 2), backend, 3);
      SequencedMap<String, float[]> slots = adam.newSlots(model.layout());
      return new Trained(
          model, model.onDevice(adam.elementwise().orElseThrow(), slots).orElseThrow(), slots);
    }

    void step(int step) {
      for (int pass = 0; pass < PASSES; pass++) {
        float[] features = new float[EXAMPLES * FEATURES];
        for (int i = 0; i < features.length; i++) {
          features[i] = (i * 7 + step + pass) % 5 - 2;
        }
        update.pass(new Batch(EXAMPLES, features, new int[] {0, 1, 1}), new float[0], pass, PASSES);
      }
      update.squaredNorm();
      if (step > 0) {
        update.compared();
      }
      update.keep();
      update.apply(0.01, step);
    }
  }

  /** What {@code kastor gpu check} finds out about a GPU. */
  @Test
  void theCheckComparesUpdatesWithThoseOfTheHost() throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      GpuProcess.main(new String[0]);
    } finally {
      System.setOut(before);
    }
    List<JsonNode> updates = new ArrayList<>();
    for (JsonNode trial : new ObjectMapper().readTree(printed.toByteArray()).findValue("trials")) {
      if (trial.path("network").asText().contains("adam")) {
        updates.add(trial);
      }
    }
    assertThat(updates).hasSize(1);
    assertThat(updates.getFirst().path("error").asDouble(Double.NaN)).isZero();
    List.copyOf(driver.memory.keySet()).forEach(driver::free);
  }

  @Test
  void noStepButTheFirstCopiesWeightsOrState() {
    JcudaGpu gpu = JcudaGpu.open(0, "gpu", null, null, Precision.FP32, Long.MAX_VALUE);
    Trained trained = Trained.on(new CudaBackend(gpu));
    Trained wanted = Trained.on(InterpretedGpu.backend());
    int elements = trained.model().layout().elements();
    try (GraphModel model = trained.model();
        GraphModel control = wanted.model()) {
      for (int step = 0; step < 6; step++) {
        long in = driver.bytesIn;
        long out = driver.bytesOut;
        trained.step(step);
        wanted.step(step);
        if (step > 1) {
          // Batches, the numbers of Adam, and what tells the first pass and the share of each.
          assertThat(driver.bytesIn - in)
              .isEqualTo(4L * (PASSES * EXAMPLES * (FEATURES + 1) + 3 + PASSES));
          // Losses, and of each norm or product a number for each row of 1024 elements.
          assertThat(driver.bytesOut - out).isLessThanOrEqualTo(4L * (PASSES + 5 * 2));
          assertThat(driver.bytesOut - out).isLessThan(elements);
        }
      }
      long out = driver.bytesOut;
      assertThat(model.readParameters()).isEqualTo(control.readParameters());
      for (String name : trained.slots().keySet()) {
        assertThat(trained.update().readSlot(name)).isEqualTo(wanted.update().readSlot(name));
        assertThat(trained.slots().get(name)).isNotEqualTo(new float[elements]);
      }
      assertThat(driver.bytesOut - out).isGreaterThanOrEqualTo(3L * 4 * elements);
    }
    assertThat(gpu.memory().heldBytes()).isZero();
    gpu.memory().trim();
    assertThat(driver.memory).isEmpty();
    assertThat(driver.handles.values().stream().filter(FakeDriver::outlives)).isEmpty();
  }
}
