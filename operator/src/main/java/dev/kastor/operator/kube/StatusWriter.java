package dev.kastor.operator.kube;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes single fields of a job's status as JSON merge patches.
 *
 * <p>Every field has one writer, so patches of different writers never conflict and none needs to
 * know what the others wrote. The job's uid travels along: a new job of the same name is not
 * touched by what was meant for the old one.
 */
@Singleton
public final class StatusWriter {
  private static final int MOST_SHAPES = 5_000;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .build();

  private final KubernetesClient client;
  private final Map<String, ObjectNode> written;
  private final Map<JsonNode, JsonNode> shapes = new ConcurrentHashMap<>();
  private final Map<String, Map<String, Object>> postponed;

  public StatusWriter(JobRecords records, KubernetesClient client) {
    written = records.part();
    postponed = records.part();
    this.client = client;
  }

  /**
   * Sets the fields; a null value removes a field.
   *
   * @return whether the job still exists
   * @throws KubernetesClientException if the API server refuses for another reason
   */
  public boolean patch(TrainingJob job, Map<String, ? extends @Nullable Object> fields) {
    String uid = job.getMetadata().getUid();
    ObjectNode known = written.computeIfAbsent(uid, key -> JsonNodeFactory.instance.objectNode());
    // One patch of a job at a time: what is known of earlier ones then is what the server has, and
    // what was postponed first is not sent last.
    synchronized (known) {
      Map<String, Object> waiting = postponed.remove(uid);
      if (waiting == null) {
        // Another patch may have taken along what a flush was for.
        return fields.isEmpty() || patchNow(job, fields, known);
      }
      Map<String, @Nullable Object> all = new HashMap<>(waiting);
      all.putAll(fields);
      try {
        return patchNow(job, all, known);
      } catch (KubernetesClientException e) {
        // Whoever postponed it does not hear of the failure, so it waits for the next patch; not
        // what could be refused for itself, and what the fields replace may be done all the same.
        Map<String, Object> again = new HashMap<>(waiting);
        again.keySet().removeAll(fields.keySet());
        if (NotSent.mayBeRepeated(e) && !again.isEmpty()) {
          postponed.merge(uid, Map.copyOf(again), (newer, older) -> both(older, newer));
        }
        throw e;
      }
    }
  }

  /** The job as the API server has it now; empty if it is gone. */
  public Optional<TrainingJob> stored(TrainingJob job) {
    TrainingJob now =
        client
            .resources(TrainingJob.class)
            .inNamespace(job.getMetadata().getNamespace())
            .withName(job.getMetadata().getName())
            .get();
    return Optional.ofNullable(now)
        .filter(found -> found.getMetadata().getUid().equals(job.getMetadata().getUid()));
  }

  private boolean patchNow(
      TrainingJob job, Map<String, ? extends @Nullable Object> fields, ObjectNode known) {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("metadata").put("uid", job.getMetadata().getUid());
    ObjectNode status = body.putObject("status");
    JsonNode cached =
        job.getStatus() == null ? JsonNodeFactory.instance.objectNode() : tree(job.getStatus());
    Map<String, JsonNode> next = new HashMap<>();
    fields.forEach((name, value) -> {
      JsonNode whole = tree(value);
      JsonNode patch = whole.deepCopy();
      removeStale(patch, cached.path(name));
      removeStale(patch, known.path(name));
      status.set(name, patch);
      next.put(name, keys(whole));
    });
    try {
      boolean there = send(job, body);
      next.forEach((name, keys) -> known.set(name, shape(keys)));
      return there;
    } catch (KubernetesClientException e) {
      // The server may have it or not, so the next patch names the keys of both.
      next.forEach((name, keys) -> known.set(name, shape(withAll(keys, known.path(name)))));
      throw e;
    }
  }

  /**
   * Sets the fields with the next patch of the job, or with {@link #flush}: for what a later look
   * could find out again if it got lost.
   */
  public void postpone(TrainingJob job, Map<String, Object> fields) {
    postponed.merge(job.getMetadata().getUid(), Map.copyOf(fields), StatusWriter::both);
  }

  /** Sends what was postponed, if anything was. */
  public void flush(TrainingJob job) {
    if (postponed.containsKey(job.getMetadata().getUid())) {
      patch(job, Map.of());
    }
  }

  private static Map<String, Object> both(Map<String, Object> early, Map<String, Object> late) {
    Map<String, Object> all = new HashMap<>(early);
    all.putAll(late);
    return all;
  }

  private boolean send(TrainingJob job, ObjectNode body) {
    try {
      MergePatch.send(client, job, body.toString());
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
          || e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
  }

  /** A merge patch keeps keys it does not name, so keys that went away are named with null. */
  private static void removeStale(JsonNode patch, JsonNode old) {
    if (patch instanceof ObjectNode object && old.isObject()) {
      for (var entry : old.properties()) {
        JsonNode kept = object.get(entry.getKey());
        if (kept == null) {
          object.putNull(entry.getKey());
        } else {
          removeStale(kept, entry.getValue());
        }
      }
    }
  }

  /** Only the keys matter later, and those of tens of thousands of jobs are mostly the same. */
  private JsonNode shape(JsonNode keys) {
    if (shapes.size() > MOST_SHAPES) {
      shapes.clear();
    }
    return shapes.computeIfAbsent(keys, same -> same);
  }

  /** Keys with those that others have besides; a value without keys has none of its own. */
  private static JsonNode withAll(JsonNode keys, JsonNode others) {
    if (!others.isObject()) {
      return keys.isMissingNode() ? NullNode.getInstance() : keys;
    }
    ObjectNode all = keys instanceof ObjectNode own ? own : JsonNodeFactory.instance.objectNode();
    others
        .properties()
        .forEach(
            entry -> all.set(entry.getKey(), withAll(all.path(entry.getKey()), entry.getValue())));
    return all;
  }

  private static JsonNode keys(JsonNode node) {
    if (!node.isObject()) {
      return NullNode.getInstance();
    }
    ObjectNode keys = JsonNodeFactory.instance.objectNode();
    node.properties().forEach(entry -> keys.set(entry.getKey(), keys(entry.getValue())));
    return keys;
  }

  /** Nested values leave out what they do not have; the field itself may be null to remove it. */
  private static JsonNode tree(@Nullable Object value) {
    return value == null ? JsonNodeFactory.instance.nullNode() : JSON.valueToTree(value);
  }
}
