package dev.kastor.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.kastor.crds.TrainingJob;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The commands that only look. */
final class Reading {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final ClusterOptions options;
  private final PrintWriter out;

  Reading(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void list(boolean all, boolean json) {
    try (Cluster cluster = Cluster.connect(options.kubeconfig())) {
      List<JobView> jobs =
          cluster.jobs(all ? null : options.namespace()).stream()
              .sorted(
                  Comparator.comparing((TrainingJob j) -> j.getMetadata().getCreationTimestamp())
                      .thenComparing(j -> j.getMetadata().getName()))
              .map(JobView::of)
              .toList();
      if (json) {
        print(Map.of("jobs", jobs, "advice", cluster.advice()));
      } else if (jobs.isEmpty()) {
        out.println("no jobs. Submit one with: kastor submit -f examples/glyph-mlp.yaml");
      } else {
        table(jobs, Instant.now()).forEach(out::println);
        cluster.advice().forEach(sentence -> out.println("advice: " + sentence));
      }
      out.flush();
    }
  }

  static List<String> table(List<JobView> jobs, Instant now) {
    Table table = new Table(JobView.HEADER);
    jobs.forEach(j -> table.row(j.cells(now)));
    return table.lines();
  }

  void get(String name, GetCommand.Output output) {
    try (Cluster cluster = Cluster.connect(options.kubeconfig())) {
      var job = cluster.raw(options.namespace(), name);
      switch (output) {
        case YAML -> out.print(Serialization.asYaml(job));
        case JSON -> print(job);
      }
      out.flush();
    }
  }

  void describe(String name, boolean json) {
    try (Cluster cluster = Cluster.connect(options.kubeconfig())) {
      TrainingJob job = cluster.get(options.namespace(), name);
      List<Event> events = cluster.events(options.namespace(), name);
      if (json) {
        print(Map.of("job", cluster.raw(options.namespace(), name), "events", events));
      } else {
        new Description(job, cluster.pods(options.namespace(), name), events, Instant.now())
            .lines()
            .forEach(out::println);
      }
      out.flush();
    }
  }

  private void print(Object value) {
    try {
      out.println(JSON.writeValueAsString(value));
    } catch (JsonProcessingException e) {
      throw new CliException(ExitCode.FAILED, "the answer cannot be written as JSON", e);
    }
  }
}
