package dev.kastor.cli.compare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.terminal.Wrapped;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Comparison of jobs: the fields of spec and the labels in which they differ, and what came of
 * each.
 */
final class Comparison {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String NONE = "-";

  private final List<Run> runs;

  /**
   * One job.
   *
   * @param settings its labels and the fields of its spec that differ from those of another one,
   *     such as {@code goodput.batchSize.initial}
   */
  record Run(JobView job, Map<String, String> settings) {}

  Comparison(List<TrainingJob> jobs) {
    List<Map<String, String>> all = jobs.stream().map(Comparison::settings).toList();
    TreeSet<String> differing = new TreeSet<>();
    all.forEach(settings -> differing.addAll(settings.keySet()));
    differing.removeIf(name ->
        new HashSet<>(all.stream().map(each -> each.getOrDefault(name, "")).toList()).size() < 2);
    runs = new ArrayList<>();
    for (int i = 0; i < jobs.size(); i++) {
      Map<String, String> own = new TreeMap<>(all.get(i));
      own.keySet().retainAll(differing);
      runs.add(new Run(JobView.of(jobs.get(i)), own));
    }
  }

  List<Run> runs() {
    return runs;
  }

  private static Map<String, String> settings(TrainingJob job) {
    Map<String, String> settings = new TreeMap<>();
    flatten("", JSON.valueToTree(job.getSpec()), settings);
    Map<String, String> labels = job.getMetadata().getLabels();
    if (labels != null) {
      labels.forEach((name, value) -> settings.put("label " + name, value));
    }
    return settings;
  }

  private static void flatten(String path, JsonNode value, Map<String, String> into) {
    if (value.isObject()) {
      value
          .properties()
          .forEach(field ->
              flatten(
                  path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                  field.getValue(),
                  into));
    } else if (value.isArray() && !value.isEmpty() && value.get(0).isContainerNode()) {
      for (int i = 0; i < value.size(); i++) {
        flatten(path + "[" + i + "]", value.get(i), into);
      }
    } else if (!value.isNull()) {
      into.put(path, value.isValueNode() ? value.asText() : value.toString());
    }
  }

  /** A line for each field, with a column for each job. */
  List<String> lines(int paper) {
    List<String> header = new ArrayList<>(List.of(""));
    runs.forEach(run -> header.add(run.job().name()));
    Table table = new Table(header.toArray(String[]::new));
    TreeSet<String> names = new TreeSet<>();
    runs.forEach(run -> names.addAll(run.settings().keySet()));
    for (String name : names) {
      row(table, name, run -> run.settings().getOrDefault(name, NONE));
    }
    results(table);
    List<String> lines = new ArrayList<>(table.lines(paper));
    for (Run run : runs) {
      String note = run.job().note();
      if (note != null) {
        // Below the table: a note may be longer than any column.
        lines.addAll(Wrapped.lines("note of %s: %s".formatted(run.job().name(), note), paper));
      }
    }
    return lines;
  }

  private void results(Table table) {
    row(table, "PHASE", run -> JobView.coloured(run.job().phase()));
    TreeSet<String> metrics = new TreeSet<>();
    runs.forEach(run -> {
      if (run.job().metricName() != null) {
        metrics.add(run.job().metricName());
      }
    });
    for (String metric : metrics) {
      row(
          table,
          metric,
          run ->
              metric.equals(run.job().metricName())
                  ? Format.number(run.job().finalMetric())
                  : NONE);
    }
    SequencedMap<String, Function<JobView, String>> rows = new LinkedHashMap<>();
    rows.put("loss", job -> Format.number(job.loss()));
    rows.put("done", job -> job.percent() == null ? NONE : job.percent() + "%");
    rows.put("took", job -> job.jctSeconds() == null ? NONE : Format.seconds(job.jctSeconds()));
    rows.put("batch", job -> job.globalBatch() == null ? NONE : job.globalBatch().toString());
    rows.put("rescales", job -> job.rescales() == null ? NONE : job.rescales().toString());
    rows.put("restarts", job -> job.restarts() == null ? NONE : job.restarts().toString());
    rows.forEach((name, value) -> row(table, name, run -> value.apply(run.job())));
  }

  private void row(Table table, String name, Function<Run, String> value) {
    List<String> cells = new ArrayList<>(List.of(name));
    runs.forEach(run -> cells.add(value.apply(run)));
    table.row(cells);
  }
}
