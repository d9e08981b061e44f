package dev.kastor.cli.job;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.Note;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that add to each job that a command submits. */
public final class SubmitOptions {
  private static final Pattern WARM_START = Pattern.compile("([^/:]+)(?::([0-9]{1,18}))?");

  @Option(
      names = "--warm-start",
      paramLabel = "JOB[:STEP]",
      description = {
        "Begin with the parameters of the newest checkpoint of another job of the namespace, or of"
            + " that of a step. All else begins as ever."
      })
  private @Nullable String warmStart;

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "Note of at most 1000 characters, which describe and compare-runs show.")
  private @Nullable String note;

  @Option(
      names = "--tag",
      paramLabel = "KEY=VALUE",
      description = "Label, by which --selector of other commands chooses jobs.")
  private List<String> tags = List.of();

  /** Adds what was asked for to a job that is about to be submitted. */
  public void addTo(GenericKubernetesResource job) {
    if (warmStart != null && job.getAdditionalProperties().get("spec") instanceof Map<?, ?> given) {
      Map<String, Object> spec = copyOf(given);
      Map<String, Object> checkpoint =
          spec.get("checkpoint") instanceof Map<?, ?> own ? copyOf(own) : new LinkedHashMap<>();
      checkpoint.put("warmStart", warmStart());
      spec.put("checkpoint", checkpoint);
      job.setAdditionalProperty("spec", spec);
    }
    ObjectMeta metadata = job.getMetadata();
    String text = note == null ? "" : NotesAndTags.note(note);
    if (!text.isEmpty()) {
      Map<String, String> annotations = new LinkedHashMap<>(orEmpty(metadata.getAnnotations()));
      annotations.put(Note.ANNOTATION, text);
      metadata.setAnnotations(annotations);
    }
    if (!tags.isEmpty()) {
      Map<String, @Nullable String> given = new LinkedHashMap<>();
      tags.forEach(tag -> NotesAndTags.addTag(tag, false, given));
      Map<String, String> labels = new LinkedHashMap<>(orEmpty(metadata.getLabels()));
      given.forEach((key, value) -> labels.put(key, String.valueOf(value)));
      metadata.setLabels(labels);
    }
  }

  private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
    return map == null ? Map.of() : map;
  }

  /** Ends the command where what was asked for cannot be had in a namespace. */
  public void check(Cluster cluster, String namespace) {
    if (warmStart == null) {
      return;
    }
    String other = String.valueOf(warmStart().get("job"));
    if (cluster.find(namespace, other) == null) {
      throw new CliException(
          ExitCode.NOT_FOUND,
          "--warm-start %s: there is no job %s in namespace %s. See what there is with: kastor ls -A"
              .formatted(warmStart, other, namespace));
    }
  }

  private Map<String, Object> warmStart() {
    String text = String.valueOf(warmStart);
    if (text.contains("/")) {
      throw new CliException(
          ExitCode.USAGE,
          "--warm-start %s: a job can begin with the parameters of a job of its own namespace alone. Name it without the namespace"
              .formatted(text));
    }
    Matcher parts = WARM_START.matcher(text);
    if (!parts.matches()) {
      throw new CliException(
          ExitCode.USAGE,
          "--warm-start %s: must be the name of a job, or name and step such as bert:12000"
              .formatted(text));
    }
    Map<String, Object> asked = new LinkedHashMap<>();
    asked.put("job", parts.group(1));
    if (parts.group(2) != null) {
      asked.put("step", Long.parseLong(parts.group(2)));
    }
    return asked;
  }

  private static Map<String, Object> copyOf(Map<?, ?> given) {
    Map<String, Object> copy = new LinkedHashMap<>();
    given.forEach((key, value) -> copy.put(String.valueOf(key), value));
    return copy;
  }
}
