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
  /**
   * All that Kastor ships, the most telling first, since the first that recognises a file reads it.
   */
  public static final Registry<TraceFormat> BUILT_IN =
      Registry.of(
          "trace format",
          List.of(
              new PhillyTrace(),
              new PhillyDigestTrace(),
              new HeliosTrace(),
              new AlibabaTrace(),
              new SlurmTrace(),
              new KubernetesTrace(),
              new SwfTrace(),
              new ArtifactTrace(),
              new KastorTrace()));

  private TraceFormats() {}

  /** The format that a file or folder is in. */
  private static TraceFormat detect(Path file, Registry<TraceFormat> known) throws TraceException {
    TraceHead head = TraceHead.of(file);
    for (TraceFormat format : known.all()) {
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
                String.join(", ", known.names()),
                String.join(",", WorkloadFile.allColumns())));
  }

  /**
   * Reads a trace.
   *
   * @param known formats that it may be in
   * @param format name of its format; null to tell it from the content
   * @param applications the applications that jobs may name; null for any
   */
  public static TraceContent read(
      Path file,
      Registry<TraceFormat> known,
      @Nullable String format,
      @Nullable Set<String> applications)
      throws TraceException {
    TraceFormat chosen = format == null ? detect(file, known) : named(format, known);
    JobCollector collector = new JobCollector(file, chosen, applications);
    chosen.read(file, collector);
    return collector.content();
  }

  private static TraceFormat named(String name, Registry<TraceFormat> known) throws TraceException {
    try {
      return known.get(name);
    } catch (IllegalArgumentException e) {
      throw new TraceException(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Reads a trace in a format that Kastor ships, told from its content, whose jobs use only the
   * given applications.
   */
  public static Workload read(Path file, Set<String> applications) throws TraceException {
    return read(file, BUILT_IN, null, applications).workload();
  }
}
