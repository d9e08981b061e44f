package dev.kastor.traces.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import dev.kastor.traces.TraceRow;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.Workload.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Lists of Kueue's Workloads or of Kubernetes' Jobs, as {@code kubectl get -o json} prints them.
 *
 * <p>A pod is a replica and its GPUs are slots of one node. A Workload ran from its admission, a
 * Job from its start. What has not ended, never ran or uses no GPU is left out.
 */
final class KubernetesTrace implements TraceFormat {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> KINDS = Set.of("Workload", "Job");

  /** Pods of one kind. */
  private record Pods(int count, int gpus) {}

  @Override
  public String name() {
    return "kubernetes";
  }

  @Override
  public String description() {
    return "Workloads of Kueue or Jobs (kubectl get -o json)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.firstLine().startsWith("{");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    try (InputStream in = TraceInput.stream(file);
        JsonParser parser = JSON.getFactory().createParser(in)) {
      boolean listed = false;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        // Of the list itself nothing else matters.
        if (token == JsonToken.FIELD_NAME && parser.currentName().equals("items")) {
          listed = true;
          items(parser, file, sink);
        } else if (token == JsonToken.FIELD_NAME) {
          parser.nextToken();
          parser.skipChildren();
        }
      }
      if (!listed) {
        throw new TraceException(
            "%s, line 1: there is no list of items as kubectl get -o json prints it"
                .formatted(file));
      }
    } catch (JsonProcessingException e) {
      throw new TraceException(
          "%s, line %d: not valid JSON: %s"
              .formatted(
                  file,
                  e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
                  e.getOriginalMessage()),
          e);
    } catch (IOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static void items(JsonParser parser, Path file, Sink sink)
      throws IOException, TraceException {
    if (parser.nextToken() != JsonToken.START_ARRAY) {
      throw new FileLine(file, parser.currentTokenLocation().getLineNr())
          .problem("items", "it is not a list");
    }
    while (parser.nextToken() == JsonToken.START_OBJECT) {
      FileLine where = new FileLine(file, parser.currentTokenLocation().getLineNr());
      JsonNode item = parser.readValueAsTree();
      read(item, where, sink);
    }
  }

  private static void read(JsonNode item, TraceRow where, Sink sink) throws TraceException {
    String kind = item.path("kind").asText();
    if (!KINDS.contains(kind)) {
      throw where.problem(
          "kind", "'%s' must be Workload (of kueue.x-k8s.io) or Job".formatted(kind));
    }
    boolean workload = kind.equals("Workload");
    JsonNode metadata = item.path("metadata");
    String name = text(metadata, "name", where);
    String namespace = text(metadata, "namespace", where);
    double submitted =
        seconds(text(metadata, "creationTimestamp", where), "creationTimestamp", where);
    List<Pods> pods = workload ? podSets(item, where) : podsOfJob(item, where);
    int gpus = pods.stream().mapToInt(set -> set.count() * set.gpus()).sum();
    if (gpus == 0) {
      sink.skip("uses no GPU");
      return;
    }
    Optional<JsonNode> end =
        workload
            ? condition(item, "Finished")
            : condition(item, "Complete").or(() -> condition(item, "Failed"));
    if (end.isEmpty()) {
      sink.skip("has not ended");
      return;
    }
    Optional<String> start =
        workload
            ? condition(item, "Admitted").map(at -> at.path("lastTransitionTime").asText())
            : Optional.of(item.path("status").path("startTime").asText());
    if (start.filter(at -> !at.isEmpty()).isEmpty()) {
      sink.skip("never ran");
      return;
    }
    double from = seconds(start.get(), "start", where);
    double duration =
        seconds(text(end.get(), "lastTransitionTime", where), "lastTransitionTime", where) - from;
    if (!(duration > 0)) {
      sink.skip("never ran");
      return;
    }
    Outcome outcome = outcome(end.get(), workload);
    // Pods that differ in GPUs share no size of a replica.
    boolean alike = pods.stream().map(Pods::gpus).distinct().count() == 1;
    int replicas = alike ? pods.stream().mapToInt(Pods::count).sum() : gpus;
    JsonNode spec = item.path("spec");
    String label = metadata.path("labels").path("kueue.x-k8s.io/queue-name").asText();
    sink.job(
        new Workload.Job(
            namespace + "/" + name,
            submitted,
            Workload.DURATION_ONLY,
            replicas,
            replicas,
            replicas,
            0,
            Category.RIGID,
            duration,
            outcome,
            workload ? spec.path("queueName").asText() : label,
            workload ? spec.path("priority").asInt(0) : 0,
            alike ? pods.getFirst().gpus() : 1),
        where);
  }

  private static List<Pods> podSets(JsonNode item, TraceRow where) throws TraceException {
    List<Pods> pods = new ArrayList<>();
    for (JsonNode set : item.path("spec").path("podSets")) {
      int gpus = gpus(set.path("template").path("spec"), where);
      int count = set.path("count").asInt(1);
      if (gpus > 0 && count > 0) {
        pods.add(new Pods(count, gpus));
      }
    }
    return pods;
  }

  private static List<Pods> podsOfJob(JsonNode item, TraceRow where) throws TraceException {
    JsonNode spec = item.path("spec");
    int gpus = gpus(spec.path("template").path("spec"), where);
    int count = spec.path("parallelism").asInt(1);
    return gpus > 0 && count > 0 ? List.of(new Pods(count, gpus)) : List.of();
  }

  /** GPUs of all containers: resources such as {@code nvidia.com/gpu}. */
  private static int gpus(JsonNode pod, TraceRow where) throws TraceException {
    int gpus = 0;
    for (JsonNode container : pod.path("containers")) {
      JsonNode resources = container.path("resources");
      JsonNode limits = resources.path("limits");
      for (Map.Entry<String, JsonNode> amount :
          (limits.isEmpty() ? resources.path("requests") : limits).properties()) {
        if (amount.getKey().endsWith("/gpu")) {
          String text = amount.getValue().asText();
          if (!text.matches("\\d{1,6}")) {
            throw where.problem(amount.getKey(), "'%s' is not a number of GPUs".formatted(text));
          }
          gpus += Integer.parseInt(text);
        }
      }
    }
    return gpus;
  }

  /** A condition that holds. */
  private static Optional<JsonNode> condition(JsonNode item, String type) {
    for (JsonNode condition : item.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(type)
          && condition.path("status").asText().equals("True")) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  /** Of a Workload only words tell: the reason in newer versions, the message in older ones. */
  private static Outcome outcome(JsonNode end, boolean workload) {
    if (!workload) {
      return end.path("type").asText().equals("Complete") ? Outcome.COMPLETED : Outcome.FAILED;
    }
    String words =
        (end.path("reason").asText() + " " + end.path("message").asText()).toLowerCase(Locale.ROOT);
    return words.contains("fail") ? Outcome.FAILED : Outcome.COMPLETED;
  }

  private static String text(JsonNode node, String key, TraceRow where) throws TraceException {
    JsonNode value = node.path(key);
    if (!value.isTextual() || value.asText().isBlank()) {
      throw where.problem(key, "there is no such text");
    }
    return value.asText();
  }

  private static double seconds(String text, String key, TraceRow where) throws TraceException {
    try {
      return Instant.parse(text).toEpochMilli() * 1e-3;
    } catch (DateTimeParseException e) {
      throw where.problem(key, "'%s' is not a time such as 2026-03-01T12:00:00Z".formatted(text));
    }
  }
}
