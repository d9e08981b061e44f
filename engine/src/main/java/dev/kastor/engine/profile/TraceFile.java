package dev.kastor.engine.profile;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes a profile in the Trace Event Format, which Perfetto ({@code ui.perfetto.dev}) and Chrome
 * ({@code about:tracing}) open: kernels and named parts of the time on a track each, and the memory
 * that is alive as a counter.
 */
public final class TraceFile {
  private static final int PROCESS = 1;
  private static final int SPANS = 1;
  private static final int KERNELS = 2;
  private static final double NANOS_PER_MICRO = 1000;

  private TraceFile() {}

  /**
   * Writes the whole file or, if that fails, none.
   *
   * @param title what was profiled
   */
  public static void write(Profiler profiler, String title, Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Path fresh =
        file.resolveSibling(
            ".%s.%d.tmp".formatted(file.getFileName(), ProcessHandle.current().pid()));
    try {
      try (OutputStream out = Files.newOutputStream(fresh);
          JsonGenerator json = new JsonFactory().createGenerator(out)) {
        write(profiler, title, json);
      }
      Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  private static void write(Profiler profiler, String title, JsonGenerator json)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("displayTimeUnit", "ms");
    json.writeArrayFieldStart("traceEvents");
    named(json, "process_name", 0, title);
    named(json, "thread_name", SPANS, Profiler.STEP);
    named(json, "thread_name", KERNELS, "kernels");
    Map<String, Integer> tracks = new HashMap<>(Map.of(Profiler.STEP, SPANS));
    for (Profiler.Span span : profiler.spans()) {
      if (!tracks.containsKey(span.track())) {
        tracks.put(span.track(), KERNELS + tracks.size());
        named(json, "thread_name", tracks.get(span.track()), span.track());
      }
      complete(json, span.name(), tracks.get(span.track()), span.start(), span.end());
      json.writeEndObject();
    }
    for (Profiler.Run run : profiler.runs()) {
      complete(json, run.kernel().op(), KERNELS, run.start(), run.end());
      json.writeObjectFieldStart("args");
      json.writeStringField("result", run.kernel().result());
      json.writeStringField("operands", String.join(" ", run.kernel().operands()));
      json.writeNumberField("bytes", run.kernel().bytes());
      json.writeEndObject();
      json.writeEndObject();
      alive(json, run);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void named(JsonGenerator json, String what, int track, String name)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("name", what);
    json.writeStringField("ph", "M");
    json.writeNumberField("pid", PROCESS);
    json.writeNumberField("tid", track);
    json.writeObjectFieldStart("args");
    json.writeStringField("name", name);
    json.writeEndObject();
    json.writeEndObject();
  }

  /** Begins an event that lasts; the caller ends the object. */
  private static void complete(JsonGenerator json, String name, int track, long start, long end)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("name", name);
    json.writeStringField("ph", "X");
    json.writeNumberField("pid", PROCESS);
    json.writeNumberField("tid", track);
    json.writeNumberField("ts", start / NANOS_PER_MICRO);
    json.writeNumberField("dur", (end - start) / NANOS_PER_MICRO);
  }

  private static void alive(JsonGenerator json, Profiler.Run run) throws IOException {
    json.writeStartObject();
    json.writeStringField("name", "memory alive");
    json.writeStringField("ph", "C");
    json.writeNumberField("pid", PROCESS);
    json.writeNumberField("ts", run.start() / NANOS_PER_MICRO);
    json.writeObjectFieldStart("args");
    json.writeNumberField("bytes", run.kernel().aliveBytes());
    json.writeEndObject();
    json.writeEndObject();
  }
}
