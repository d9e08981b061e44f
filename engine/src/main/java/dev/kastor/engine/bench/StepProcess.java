package dev.kastor.engine.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.OperatingSystemMXBean;
import dev.kastor.engine.backend.registry.Backends;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Reader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The program that {@code kastor bench engine} starts for each model: it takes a first step, and
 * then as many as fit into the time that each line of its input names.
 *
 * <p>Arguments: the model as JSON ({@link BenchModel}) and the number of threads. Lines of JSON:
 * first {@code device}, {@code parameters} and {@code loss}; then for each line {@code {"seconds":
 * 5}} of input {@code steps}, {@code seconds}, {@code cpuSeconds}, {@code peakBytes} and {@code
 * loss}. The program of the peer, {@code bench/peer/measure.py}, speaks the same.
 */
public final class StepProcess {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Path STATUS = Path.of("/proc/self/status");

  private final TrainingStep step;
  private double loss;

  private StepProcess(TrainingStep step) {
    this.step = step;
  }

  /** Serves until the input ends. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 2) {
      System.err.println("Arguments: the model as JSON, and the number of threads.");
      System.exit(2);
    }
    BenchModel model = BenchModel.of(MAPPER.readTree(arguments[0]));
    serve(
        model,
        Integer.parseInt(arguments[1]),
        new InputStreamReader(System.in, StandardCharsets.UTF_8),
        System.out);
  }

  static void serve(BenchModel model, int threads, Reader in, PrintStream out) throws IOException {
    Backends.Choice choice = Backends.fastest(threads);
    try (TrainingStep step = new TrainingStep(model, choice.backend())) {
      StepProcess process = new StepProcess(step);
      process.loss = step.run();
      ObjectNode ready = MAPPER.createObjectNode();
      ready.put("device", choice.backend().name());
      ready.put("parameters", step.parameters());
      ready.put("loss", process.loss);
      tell(out, ready);
      BufferedReader lines = new BufferedReader(in);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode asked = MAPPER.readTree(line);
        tell(out, process.measure(asked.path("seconds").asDouble()));
      }
    }
  }

  private static void tell(PrintStream out, ObjectNode json) {
    out.println(json);
    out.flush();
  }

  private ObjectNode measure(double seconds) throws IOException {
    long cpu = cpuNanos();
    long start = System.nanoTime();
    long end = start + Math.round(seconds * 1e9);
    long steps = 0;
    long now;
    do {
      loss = step.run();
      steps++;
      now = System.nanoTime();
    } while (now - end < 0);
    ObjectNode json = MAPPER.createObjectNode();
    json.put("steps", steps);
    json.put("seconds", (now - start) * 1e-9);
    json.put("cpuSeconds", (cpuNanos() - cpu) * 1e-9);
    json.put("peakBytes", peakBytes());
    json.put("loss", loss);
    return json;
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  /** The most memory of this process that was in RAM so far; 0 where the system does not tell. */
  private static long peakBytes() throws IOException {
    if (!Files.isReadable(STATUS)) {
      return 0;
    }
    return Files.readAllLines(STATUS).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(0);
  }
}
