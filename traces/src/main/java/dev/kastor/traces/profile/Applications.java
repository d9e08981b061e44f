package dev.kastor.traces.profile;

import dev.kastor.traces.Application;
import dev.kastor.traces.ScaledApplication;
import dev.kastor.traces.TimedApplication;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.measured.PolluxApplications;
import dev.kastor.traces.measured.SiaApplications;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** Reads the applications that workloads name, in any format Kastor knows. */
public final class Applications {
  private Applications() {}

  /**
   * Every application of a file or folder, by name: a CSV file in Kastor's own format, or a folder
   * of measured profiles with one folder for each application, as the artifacts of Pollux ({@code
   * placements.csv}) and Sia ({@code placements-TYPE.csv}) have it.
   */
  public static SequencedMap<String, Application> read(Path path) throws TraceException {
    if (!Files.isDirectory(path)) {
      return Collections.unmodifiableSequencedMap(new LinkedHashMap<>(ApplicationFile.read(path)));
    }
    if (hasProfile(path, "placements-*.csv")) {
      return SiaApplications.read(path);
    }
    if (hasProfile(path, "placements.csv")) {
      return PolluxApplications.read(path);
    }
    throw new TraceException(
        "%s has no profiles: it must hold a folder for each application with a placements.csv or placements-TYPE.csv in it. For Kastor's own format name the CSV file."
            .formatted(path));
  }

  /**
   * The truth about a job: the application it names; where it has a published duration, as much
   * work of that application as takes so long, or where there is none of that name, work of which
   * nothing else is known.
   */
  public static Application of(Workload.Job job, Map<String, ? extends Application> applications) {
    Application application = applications.get(job.application());
    if (job.durationSeconds() > 0) {
      return application == null
          ? new TimedApplication(job.application(), job.requestedReplicas(), job.durationSeconds())
          : ScaledApplication.lasting(application, job.requestedReplicas(), job.durationSeconds());
    }
    if (application == null) {
      throw new IllegalArgumentException(
          "job %s uses unknown application '%s'. Use one of: %s"
              .formatted(job.name(), job.application(), String.join(", ", applications.keySet())));
    }
    return application;
  }

  private static boolean hasProfile(Path folder, String pattern) throws TraceException {
    try (Stream<Path> entries = Files.list(folder)) {
      List<Path> folders = entries.filter(Files::isDirectory).toList();
      for (Path entry : folders) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(entry, pattern)) {
          if (files.iterator().hasNext()) {
            return true;
          }
        }
      }
      return false;
    } catch (IOException e) {
      throw new TraceException("%s cannot be listed: %s".formatted(folder, e.getMessage()), e);
    }
  }
}
