package dev.kastor.cli.job;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.Note;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The commands on what people write to a job: its note and its tags. */
final class Annotating {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ClusterOptions options;
  private final PrintWriter out;

  Annotating(ClusterOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  void showNote(String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      JobView job = JobView.of(cluster.get(options.namespace(), name));
      say(job.note() == null ? "%s has no note".formatted(name) : job.note());
    }
  }

  /** Writes the note, or removes it where there is no text. */
  void note(String name, String text) {
    String note = NotesAndTags.note(text);
    try (Cluster cluster = Cluster.connect(options)) {
      cluster.get(options.namespace(), name);
      patch(cluster, name, "annotations", one(Note.ANNOTATION, note.isEmpty() ? null : note));
      say(note.isEmpty() ? "%s has no note any more".formatted(name) : name + ": " + note);
    }
  }

  void showTags(String name) {
    try (Cluster cluster = Cluster.connect(options)) {
      say(tags(name, cluster.get(options.namespace(), name)));
    }
  }

  /** Sets tags, and removes those that end with a hyphen. */
  void tag(String name, List<String> changes) {
    Map<String, @Nullable String> labels = new LinkedHashMap<>();
    changes.forEach(change -> NotesAndTags.addTag(change, true, labels));
    try (Cluster cluster = Cluster.connect(options)) {
      cluster.get(options.namespace(), name);
      patch(cluster, name, "labels", labels);
      say(tags(name, cluster.get(options.namespace(), name)));
    }
  }

  private static String tags(String name, TrainingJob job) {
    Map<String, String> labels = job.getMetadata().getLabels();
    if (labels == null || labels.isEmpty()) {
      return "%s has no tags".formatted(name);
    }
    StringBuilder text = new StringBuilder(name).append(':');
    new TreeMap<>(labels)
        .forEach((key, value) -> text.append(' ').append(key).append('=').append(value));
    return text.toString();
  }

  private void patch(
      Cluster cluster, String name, String kind, Map<String, @Nullable String> values) {
    try {
      cluster.patch(
          options.namespace(),
          name,
          JSON.writeValueAsString(Map.of("metadata", Map.of(kind, values))));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("maps of texts can always be written", e);
    }
  }

  private static Map<String, @Nullable String> one(String key, @Nullable String value) {
    Map<String, @Nullable String> map = new LinkedHashMap<>();
    map.put(key, value);
    return map;
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
