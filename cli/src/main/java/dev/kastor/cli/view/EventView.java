package dev.kastor.cli.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Event;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An event as lists show it; also what {@code -o json} prints.
 *
 * @param time when it happened last, ISO 8601
 * @param type {@code Normal} or {@code Warning}
 * @param reason why, as one word
 * @param message why, as a sentence
 * @param kind kind of what it is about
 * @param object name of what it is about
 * @param source who says so
 * @param count how often it happened
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EventView(
    @Nullable String time,
    String type,
    String reason,
    String message,
    String namespace,
    String kind,
    String object,
    @Nullable String source,
    int count) {
  public static final List<String> HEADER = List.of("AGE", "TYPE", "OBJECT", "REASON", "MESSAGE");

  public static EventView of(Event event) {
    var about = event.getInvolvedObject();
    var source = event.getSource();
    return new EventView(
        time(event),
        text(event.getType()),
        text(event.getReason()),
        text(event.getMessage()).strip(),
        text(event.getMetadata().getNamespace()),
        text(about.getKind()),
        text(about.getName()),
        Stream.of(source == null ? null : source.getComponent(), event.getReportingComponent())
            .filter(name -> name != null && !name.isEmpty())
            .findFirst()
            .orElse(null),
        times(event));
  }

  /** Components of Kubernetes fill different fields. */
  private static @Nullable String time(Event event) {
    return Stream.of(
            event.getSeries() == null || event.getSeries().getLastObservedTime() == null
                ? null
                : event.getSeries().getLastObservedTime().getTime(),
            event.getLastTimestamp(),
            event.getEventTime() == null ? null : event.getEventTime().getTime(),
            event.getFirstTimestamp(),
            event.getMetadata().getCreationTimestamp())
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static int times(Event event) {
    if (event.getSeries() != null && event.getSeries().getCount() != null) {
      return event.getSeries().getCount();
    }
    return event.getCount() == null ? 1 : event.getCount();
  }

  private static String text(@Nullable String text) {
    return text == null ? "" : text;
  }

  public Instant at() {
    return Format.instant(time).orElse(Instant.EPOCH);
  }

  /**
   * True for an event of the job or of a pod of it, also of a pod that is gone. An event from
   * before the job was made is about an earlier job of its name.
   */
  public boolean concerns(TrainingJob job) {
    return concerns(job.getMetadata().getName())
        && Format.instant(job.getMetadata().getCreationTimestamp())
            .filter(at()::isBefore)
            .isEmpty();
  }

  /** True for an event of any job of that name, or of a pod of one, also of a pod that is gone. */
  public boolean concerns(String job) {
    return switch (kind) {
      case "TrainingJob" -> object.equals(job);
      case "Pod" ->
          object.startsWith(job + "-") && object.substring(job.length() + 1).matches("\\d+");
      default -> false;
    };
  }

  public List<String> cells(Instant now) {
    return List.of(
        Format.between(Format.instant(time), Optional.of(now)),
        type.equals("Warning") ? Ink.YELLOW.on(type) : type,
        (kind.equals("TrainingJob") ? "" : kind + "/") + object,
        reason,
        count > 1 ? message + " (" + count + " times)" : message);
  }
}
