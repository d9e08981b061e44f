package dev.kastor.operator.family;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.estimate.FairEviction;
import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.estimate.NoiseBucket;
import dev.kastor.scheduler.estimate.RememberedFamily;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;

/**
 * Families as JSON, one array of numbers a profile: {@code {"schema": …, "families": [{"name": …,
 * "profiles": {"TYPE": [[nodes, replicas, atomicBatchSize, steps, stepSeconds, syncSeconds], …]},
 * "rescalePauseMillis": [milliseconds, …], "restartPauseMillis": [milliseconds, …], "noise":
 * [[index, noiseScale, reports], …], …}]}}.
 */
final class FamilyCodec {
  private static final String SCHEMA = "kastor.dev/families/v1";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PROFILE_SIZE = 6;
  private static final int BUCKET_SIZE = 3;

  private FamilyCodec() {}

  /**
   * The document of as many families as fit into so many bytes; whoever takes most loses those
   * heard of longest ago.
   *
   * @param families the one heard of longest ago first
   */
  static String write(List<RememberedFamily> families, int mostBytes) {
    SequencedMap<String, ObjectNode> fitting = new LinkedHashMap<>();
    Map<String, Integer> bytes = new HashMap<>();
    for (RememberedFamily family : families) {
      ObjectNode json = json(family);
      fitting.put(family.name(), json);
      bytes.put(family.name(), bytes(json) + 1);
    }
    FairEviction.surplus(
            fitting.keySet(),
            FamilyMemory::owner,
            name -> bytes.getOrDefault(name, 0),
            mostBytes - bytes(document(List.of())))
        .forEach(fitting::remove);
    return document(List.copyOf(fitting.values())).toString();
  }

  private static int bytes(JsonNode json) {
    return json.toString().getBytes(StandardCharsets.UTF_8).length;
  }

  private static ObjectNode document(List<ObjectNode> families) {
    ObjectNode document = JSON.createObjectNode();
    document.put("schema", SCHEMA);
    document.putArray("families").addAll(families);
    return document;
  }

  private static ObjectNode json(RememberedFamily family) {
    ObjectNode json = JSON.createObjectNode();
    json.put("name", family.name());
    json.put("maxProfiledReplicas", family.maxProfiledReplicas());
    json.put("initialBatch", family.initialBatch());
    json.put("trust", family.trust());
    json.put("heard", family.heard().toString());
    ArrayNode finished = json.putArray("finishedSteps");
    family.finishedSteps().forEach(finished::add);
    put(json.putArray("rescalePauseMillis"), family.rescalePauses());
    put(json.putArray("restartPauseMillis"), family.restartPauses());
    ArrayNode noise = json.putArray("noise");
    for (NoiseBucket bucket : family.noise()) {
      noise.addArray().add(bucket.index()).add(bucket.noiseScale()).add(bucket.reports());
    }
    ObjectNode types = json.putObject("profiles");
    family
        .profilesByType()
        .forEach((type, profiles) -> {
          ArrayNode list = types.putArray(type);
          for (StepProfile profile : profiles) {
            list.addArray()
                .add(profile.nodes())
                .add(profile.replicas())
                .add(profile.atomicBatchSize())
                .add(profile.steps())
                .add(profile.stepSeconds())
                .add(profile.syncSeconds());
          }
        });
    return json;
  }

  private static void put(ArrayNode to, List<Duration> pauses) {
    pauses.forEach(pause -> to.add(pause.toMillis()));
  }

  /** Pauses; none in a document of an earlier version. */
  private static List<Duration> pauses(Field json, String name) {
    return json.optional(name).stream()
        .flatMap(list -> list.elements().stream())
        .map(millis -> Duration.ofMillis(millis.integer()))
        .toList();
  }

  /**
   * The families of a document; those that are not as they should be are left out.
   *
   * @param complaints is told where each fault is, and in what it lies
   */
  static List<RememberedFamily> read(String text, Consumer<String> complaints) {
    JsonNode document;
    try {
      document = JSON.readTree(text);
    } catch (JsonProcessingException e) {
      complaints.accept(
          "line %d: not valid JSON: %s"
              .formatted(e.getLocation().getLineNr(), e.getOriginalMessage()));
      return List.of();
    }
    if (!document.path("schema").asText().equals(SCHEMA)) {
      complaints.accept("schema must be " + SCHEMA + " but is " + document.path("schema"));
      return List.of();
    }
    List<RememberedFamily> families = new ArrayList<>();
    JsonNode list = document.path("families");
    for (int f = 0; f < list.size(); f++) {
      try {
        families.add(family(new Field("families[" + f + "]", list.get(f))));
      } catch (IllegalArgumentException e) {
        complaints.accept(String.valueOf(e.getMessage()));
      }
    }
    return families;
  }

  private static RememberedFamily family(Field json) {
    SequencedMap<String, List<StepProfile>> profiles = new LinkedHashMap<>();
    json.member("profiles")
        .members()
        .forEach((type, list) ->
            profiles.put(
                type,
                list.elements().stream()
                    .map(FamilyCodec::profile)
                    .map(profile -> profile.onType(type))
                    .toList()));
    List<NoiseBucket> noise =
        json.member("noise").elements().stream().map(FamilyCodec::bucket).toList();
    List<Double> finished =
        json.member("finishedSteps").elements().stream().map(Field::number).toList();
    List<Duration> rescalePauses = pauses(json, "rescalePauseMillis");
    List<Duration> restartPauses = pauses(json, "restartPauseMillis");
    String name = json.member("name").text();
    int replicas = json.member("maxProfiledReplicas").integer();
    int initialBatch = json.member("initialBatch").integer();
    double trust = json.member("trust").number();
    Field heard = json.member("heard");
    Instant at;
    try {
      at = Instant.parse(heard.text());
    } catch (DateTimeParseException e) {
      throw heard.fault("must be a time such as 2026-01-31T12:00:00Z");
    }
    return json.checked(() ->
        new RememberedFamily(
            name,
            profiles,
            replicas,
            initialBatch,
            noise,
            finished,
            rescalePauses,
            restartPauses,
            trust,
            at));
  }

  private static StepProfile profile(Field json) {
    List<Field> numbers = json.elements(PROFILE_SIZE);
    return json.checked(() ->
        new StepProfile(
            numbers.get(0).integer(),
            numbers.get(1).integer(),
            numbers.get(2).integer(),
            numbers.get(3).integer(),
            numbers.get(4).number(),
            numbers.get(5).number()));
  }

  private static NoiseBucket bucket(Field json) {
    List<Field> numbers = json.elements(BUCKET_SIZE);
    return json.checked(() ->
        new NoiseBucket(
            numbers.get(0).integer(), numbers.get(1).number(), numbers.get(2).integer()));
  }
}
