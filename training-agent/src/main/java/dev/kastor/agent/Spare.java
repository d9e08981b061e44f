package dev.kastor.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wait for the pod that this process is to become: with {@code KASTOR_SPARE=true} an agent reads
 * its variables from standard input, one line of JSON with the field {@code environment}, and runs
 * meanwhile what every replica runs, so that the JIT has compiled it by then.
 */
final class Spare {
  private static final Logger log = LoggerFactory.getLogger(Spare.class);

  /** Programs with the operations that most models are made of. */
  private static final List<String> PROGRAMS = List.of("byte-lm", "glyph-cnn", "glyph-mlp");

  /** More would cost more processor time than it saves the replica. */
  private static final Duration OF_A_PROGRAM = Duration.ofMillis(200);

  private static final int BATCH = 16;

  private final InputStream in;

  Spare(InputStream in) {
    this.in = in;
  }

  /** Whether a process with these variables is to wait. */
  static boolean wanted(Map<String, String> environment) {
    return "true".equals(environment.get("KASTOR_SPARE"));
  }

  /**
   * Waits.
   *
   * @param own variables of this process
   * @return those and what came in; empty where the input ended, so that there is no pod
   */
  Optional<Map<String, String>> await(Map<String, String> own) throws IOException {
    try {
      prepare();
    } catch (ProgramException | RuntimeException | LinkageError e) {
      // A replica that needs it says so.
      log.info("not prepared in full: {}", e.toString());
    }
    sayReady(own);
    byte[] line = line();
    if (line.length == 0) {
      return Optional.empty();
    }
    Map<String, String> environment = new HashMap<>(own);
    JsonNode given = WireJson.read(line, JsonNode.class).path("environment");
    given.properties().forEach(each -> environment.put(each.getKey(), each.getValue().asText()));
    return Optional.of(environment);
  }

  /** Leaves a file in the folder that the kubelet gave this process. */
  private static void sayReady(Map<String, String> own) throws IOException {
    String folder = own.get("KASTOR_LOCAL_FOLDER");
    if (folder != null) {
      Files.createFile(Path.of(folder, "ready"));
    }
  }

  /** Up to the end of the line and no further: what watches the parent reads on. */
  private byte[] line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0; next = in.read()) {
      if (next == '\n') {
        return line.toByteArray();
      }
      line.write(next);
    }
    return new byte[0];
  }

  private void prepare() throws IOException, ProgramException {
    RingCipher.AES_GCM.warmUp();
    for (String name : PROGRAMS) {
      train(Programs.get(name));
    }
  }

  private void train(Program program) throws IOException, ProgramException {
    Map<String, String> parameters = program.defaultParameters();
    try (Trainable model = program.load(parameters)) {
      int[] examples = new int[BATCH];
      Arrays.setAll(examples, i -> i);
      float[] gradient = new float[model.parameters().length];
      float[] statistics = new float[model.statistics().length];
      long end = System.nanoTime() + OF_A_PROGRAM.toNanos();
      while (System.nanoTime() - end < 0) {
        model.pass(examples, gradient, statistics);
      }
    }
  }
}
