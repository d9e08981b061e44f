package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceRow;
import dev.kastor.traces.Workload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks the jobs of one trace against each other and gathers them. */
final class JobCollector implements TraceFormat.Sink {
  private final Path file;
  private final TraceFormat format;
  private final @Nullable Set<String> applications;
  private final List<Workload.Job> jobs = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final SequencedMap<String, Integer> skipped = new LinkedHashMap<>();
  private double last;

  JobCollector(Path file, TraceFormat format, @Nullable Set<String> applications) {
    this.file = file;
    this.format = format;
    this.applications = applications;
  }

  @Override
  public void job(Workload.Job job, TraceRow where) throws TraceException {
    if (!names.add(job.name())) {
      throw where.problem("", "job '%s' appears twice".formatted(job.name()));
    }
    if (job.durationSeconds() == 0
        && applications != null
        && !applications.contains(job.application())) {
      throw where.problem(
          "application",
          "there is no application '%s'. Use one of: %s"
              .formatted(job.application(), String.join(", ", applications)));
    }
    if (!format.isLog()) {
      if (job.submitSeconds() < last) {
        throw where.problem(
            "",
            "it is submitted at %s, before the line above (%s). Sort the rows by submission time."
                .formatted(job.submitSeconds(), last));
      }
      last = job.submitSeconds();
    }
    jobs.add(job);
  }

  @Override
  public void skip(String reason) {
    skipped.merge(reason, 1, Integer::sum);
  }

  TraceContent content() throws TraceException {
    if (jobs.isEmpty()) {
      throw new TraceException(
          skipped.isEmpty()
              ? "%s has no jobs".formatted(file)
              : "%s has no job that can be replayed: %s".formatted(file, skipped));
    }
    return new TraceContent(
        format, new Workload(name(), format.isLog() ? fromZero() : jobs), skipped);
  }

  private List<Workload.Job> fromZero() {
    jobs.sort(Comparator.comparingDouble(Workload.Job::submitSeconds));
    double first = jobs.getFirst().submitSeconds();
    return jobs.stream().map(job -> job.submittedAt(job.submitSeconds() - first)).toList();
  }

  private String name() {
    return String.valueOf(file.getFileName())
        .replaceFirst("\\.gz$", "")
        .replaceFirst("\\.(csv|json|swf)$", "");
  }
}
