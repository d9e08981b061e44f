package dev.kastor.cli.manifest;

import dev.kastor.plugin.Nearest;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Objections of a server to a manifest, each with its file and line. */
public final class Refusal {
  private static final Pattern UNKNOWN_FIELD = Pattern.compile("unknown field \"([^\"]+)\"");
  private static final int CONFLICT = 409;

  /** Words of both servers on a number or a flag where text belongs. */
  private static final String TEXT_WANTED = "must be of type string";

  private Refusal() {}

  /** What a server has against a change, each point with its field. */
  public static List<String> points(KubernetesClientException refusal) {
    Status status = refusal.getStatus();
    return status == null || status.getDetails() == null || status.getDetails().getCauses() == null
        ? List.of(String.valueOf(refusal.getMessage()))
        : status.getDetails().getCauses().stream()
            .map(cause ->
                (cause.getField() == null ? "" : cause.getField() + ": ") + cause.getMessage())
            .toList();
  }

  public static List<String> lines(ManifestFile manifest, KubernetesClientException refusal) {
    @Nullable Status status = refusal.getStatus();
    List<String> lines = new ArrayList<>();
    if (status != null && status.getDetails() != null && status.getDetails().getCauses() != null) {
      for (StatusCause cause : status.getDetails().getCauses()) {
        String field = cause.getField() == null ? "" : cause.getField();
        String message = String.valueOf(cause.getMessage());
        String hint = message.contains(TEXT_WANTED) ? " (put it in quotes)" : "";
        lines.add(manifest.at(field, message + hint));
      }
    }
    String message = status == null ? refusal.getMessage() : status.getMessage();
    if (lines.isEmpty() && message != null) {
      Matcher unknown = UNKNOWN_FIELD.matcher(message);
      while (unknown.find()) {
        String field = unknown.group(1);
        String name = field.substring(field.lastIndexOf('.') + 1);
        String kind = manifest.resource().getKind();
        lines.add(
            manifest.at(
                field,
                "there is no such field"
                    + Nearest.question(name, KnownFields.beside(kind, field))));
      }
    }
    if (lines.isEmpty() && refusal.getCode() == CONFLICT) {
      lines.add(
          "%s: job %s exists already. Choose another name, or remove it first: kastor rm %s"
              .formatted(manifest.place("metadata.name"), manifest.name(), manifest.name()));
    }
    if (lines.isEmpty()) {
      lines.add("%s: %s".formatted(manifest.place(""), message));
    }
    return lines;
  }
}
