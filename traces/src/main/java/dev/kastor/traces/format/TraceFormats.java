package dev.kastor.traces.format;

import dev.kastor.plugin.Registry;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Registry of the formats that traces are read from. */
public final class TraceFormats {
  /** The most telling first, since the first that recognises a file reads it. */
  private static final Registry<TraceFormat> ALL =
      Registry.of(
          "trace format",
          List.of(
              new PhillyTrace(),
              new PhillyDigestTrace(),
              new HeliosTrace(),
              new AlibabaTrace(),
              new SwfTrace(),
              new ArtifactTrace(),
              new KastorTrace()));

  private TraceFormats() {}

  public static List<TraceFormat> all() {
    return ALL.all();
  }

  /** The format of this name. */
  public static TraceFormat named(String name) throws TraceException {
    try {
      return ALL.get(name);
    } catch (IllegalArgumentException e) {
      throw new TraceException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The format that a file or folder is in. */
  public static TraceFormat detect(Path file) throws TraceException {
    TraceHead head = TraceHead.of(file);
    for (TraceFormat format : ALL.all()) {
      if (format.recognises(head)) {
        return format;
      }
    }
    if (head.firstLine().isEmpty()) {
      throw new TraceException("%s is empty or holds no trace".formatted(file));
    }
    String shown = head.firstLine();
    throw new TraceException(
        "%s, line 1: '%s' begins no trace format that Kastor knows. Name the format (%s), or give the columns of Kastor's own: %s"
            .formatted(
                file,
                shown.length() > 80 ? shown.substring(0, 80) + "..." : shown,
                names(),
                String.join(",", WorkloadFile.COLUMNS)));
  }

  private static String names() {
    return String.join(", ", ALL.names());
  }

  /**
   * Reads a trace.
   *
   * @param format null to tell it from the content
   * @param applications the applications that jobs may name; null for any
   */
  public static TraceContent read(
      Path file, @Nullable TraceFormat format, @Nullable Set<String> applications)
      throws TraceException {
    TraceFormat known = format == null ? detect(file) : format;
    JobCollector collector = new JobCollector(file, known, applications);
    known.read(file, collector);
    return collector.content();
  }

  /** Reads a trace whose jobs use only the given applications; its content tells the format. */
  public static Workload read(Path file, Set<String> applications) throws TraceException {
    return read(file, null, applications).workload();
  }
}
