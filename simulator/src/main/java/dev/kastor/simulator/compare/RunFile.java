package dev.kastor.simulator.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * The runs of a file that {@code kastor simulate} or {@code kastor sweep} wrote.
 *
 * @param file where they stand
 * @param runs in file order
 */
public record RunFile(Path file, List<Entry> runs) {
  /**
   * What a comparison needs of a run.
   *
   * @param policy its policy
   * @param workload path of its workload
   * @param seed of its random choices
   * @param mode whose rules of time held
   * @param cluster its nodes; empty where the file does not say
   * @param load how many times faster jobs arrived; 1 where the file does not say
   * @param jct completion time in seconds by job
   */
  public record Entry(
      String policy,
      String workload,
      long seed,
      String mode,
      String cluster,
      double load,
      SequencedMap<String, Double> jct) {
    public Entry {
      jct = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(jct));
    }
  }

  public RunFile {
    runs = List.copyOf(runs);
  }

  /** Reads a file. */
  public static RunFile read(Path file) throws CompareException {
    JsonNode document;
    try {
      document = new ObjectMapper().readTree(Files.readString(file));
    } catch (NoSuchFileException e) {
      throw new CompareException("%s does not exist".formatted(file));
    } catch (JsonProcessingException e) {
      throw new CompareException(
          "%s, line %d: not valid JSON: %s"
              .formatted(file, e.getLocation().getLineNr(), e.getOriginalMessage()));
    } catch (IOException e) {
      throw new CompareException("%s cannot be read: %s".formatted(file, e.getMessage()));
    }
    JsonNode list = document.path("runs");
    if (!list.isArray() || list.isEmpty()) {
      throw new CompareException(
          "%s has no runs[]. Write it with kastor simulate --json or kastor sweep."
              .formatted(file));
    }
    List<Entry> runs = new ArrayList<>();
    for (int r = 0; r < list.size(); r++) {
      runs.add(entry(file, r, list.get(r)));
    }
    return new RunFile(file, runs);
  }

  private static Entry entry(Path file, int index, JsonNode run) throws CompareException {
    for (String name : List.of("policy", "workload", "mode")) {
      if (!run.path(name).isTextual()) {
        throw new CompareException("%s: runs[%d].%s is missing".formatted(file, index, name));
      }
    }
    if (!run.path("seed").isIntegralNumber()) {
      throw new CompareException("%s: runs[%d].seed is missing".formatted(file, index));
    }
    SequencedMap<String, Double> jct = new LinkedHashMap<>();
    for (var job : run.path("jct").properties()) {
      double seconds = job.getValue().asDouble(Double.NaN);
      if (!(seconds >= 0 && Double.isFinite(seconds))) {
        throw new CompareException(
            "%s: runs[%d].jct.%s must be seconds but is %s"
                .formatted(file, index, job.getKey(), job.getValue()));
      }
      jct.put(job.getKey(), seconds);
    }
    if (jct.isEmpty()) {
      throw new CompareException("%s: runs[%d].jct has no jobs".formatted(file, index));
    }
    return new Entry(
        run.get("policy").asText(),
        run.get("workload").asText(),
        run.get("seed").asLong(),
        run.get("mode").asText(),
        run.path("cluster").asText(),
        run.path("load").asDouble(1),
        jct);
  }

  /** The policies of its runs, in file order. */
  public List<String> policies() {
    return runs.stream().map(Entry::policy).distinct().toList();
  }

  /** Only the runs of one policy. */
  public RunFile only(String policy) throws CompareException {
    if (!policies().contains(policy)) {
      throw new CompareException(
          "%s has no run of policy '%s'. It has: %s"
              .formatted(file, policy, String.join(", ", policies())));
    }
    return new RunFile(file, runs.stream().filter(run -> run.policy().equals(policy)).toList());
  }
}
