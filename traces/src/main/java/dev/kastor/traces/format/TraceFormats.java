package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The formats that traces are read from. */
public final class TraceFormats {
  /** The most telling first, since the first that recognises a file reads it. */
  private static final List<TraceFormat> ALL =
      List.of(
          new PhillyTrace(),
          new PhillyDigestTrace(),
          new HeliosTrace(),
          new AlibabaTrace(),
          new SwfTrace(),
          new ArtifactTrace(),
          new KastorTrace());

  private TraceFormats() {}

  public static List<TraceFormat> all() {
    return ALL;
  }

  /** The format of this name. */
  public static TraceFormat named(String name) throws TraceException {
    for (TraceFormat format : ALL) {
      if (format.name().equals(name)) {
        return format;
      }
    }
    throw new TraceException(
        "there is no trace format '%s'. Use one of: %s".formatted(name, names()));
  }

  /** The format that a file or folder is in. */
  public static TraceFormat detect(Path file) throws TraceException {
    TraceHead head = TraceHead.of(file);
    for (TraceFormat format : ALL) {
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
    return ALL.stream().map(TraceFormat::name).collect(Collectors.joining(", "));
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
