package dev.kastor.engine.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.profile.Profiler;
import dev.kastor.engine.profile.Totals;
import dev.kastor.engine.profile.TraceFile;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The program that {@code kastor profile} starts: it takes steps until the code is compiled and
 * then takes down where the time of some more goes.
 *
 * <p>Arguments: the model as JSON ({@link BenchModel}), the number of threads, how many steps come
 * first, how many count, and the file for the trace or nothing for none. Prints one document of
 * JSON.
 */
public final class ProfileProcess {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final double NANOS = 1e9;

  private ProfileProcess() {}

  /** Profiles and ends; with status 1 where this machine cannot. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 5) {
      System.err.println("Arguments: model as JSON, threads, first steps, steps, file or nothing.");
      System.exit(2);
    }
    String trace = arguments[4];
    switch (CpuBackend.load(Integer.parseInt(arguments[1]))) {
      case CpuBackend.Availability.Absent absent -> {
        System.err.println(absent.reason());
        System.exit(1);
      }
      case CpuBackend.Availability.Available available ->
          System.out.println(
              profile(
                  arguments[0],
                  available.backend(),
                  Integer.parseInt(arguments[2]),
                  Integer.parseInt(arguments[3]),
                  trace));
    }
  }

  private static ObjectNode profile(
      String model, CpuBackend backend, int first, int steps, String trace) throws IOException {
    Profiler profiler = new Profiler();
    ObjectNode json = MAPPER.createObjectNode();
    try (TrainingStep step =
        new TrainingStep(BenchModel.of(MAPPER.readTree(model)), backend.observedBy(profiler))) {
      for (int i = 0; i < first; i++) {
        step.run();
      }
      profiler.start();
      long begin = System.nanoTime();
      for (int i = 0; i < steps; i++) {
        long start = System.nanoTime();
        long[] passed = new long[1];
        step.run(() -> passed[0] = System.nanoTime());
        profiler.span("pass", start, passed[0]);
        profiler.span("update", passed[0], System.nanoTime());
      }
      json.put("device", backend.name());
      json.put("parameters", step.parameters());
      json.put("steps", steps);
      json.put("seconds", (System.nanoTime() - begin) / NANOS);
    }
    json.put("mostAliveBytes", Totals.mostAlive(profiler));
    json.put("left", profiler.left());
    ObjectNode spans = json.putObject("spans");
    Totals.spans(profiler).forEach((name, nanos) -> spans.put(name, nanos / NANOS));
    ArrayNode kernels = json.putArray("kernels");
    for (Totals each : Totals.of(profiler)) {
      ObjectNode kernel = kernels.addObject();
      kernel.put("op", each.op()).put("result", each.result());
      ArrayNode operands = kernel.putArray("operands");
      each.operands().forEach(operands::add);
      kernel.put("runs", each.runs()).put("seconds", each.nanos() / NANOS);
      kernel.put("bytes", each.bytes());
    }
    if (!trace.isEmpty()) {
      TraceFile.write(profiler, "kastor " + model, Path.of(trace));
    }
    return json;
  }
}
