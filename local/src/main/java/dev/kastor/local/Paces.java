package dev.kastor.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.kastor.local.api.Json;
import dev.kastor.local.kubelet.PodVariables;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Paces of the programs and scripts that jobs run: replicas are given that of theirs, so that their
 * passes last as long as on an accelerator. The kubelet's thread uses it.
 */
public final class Paces implements PodVariables {
  private static final Logger LOG = LoggerFactory.getLogger(Paces.class);
  private static final String SCRIPT = ".py";

  private final Map<String, String> byName;
  private final Set<String> unknown = new HashSet<>();

  /**
   * Paces by name.
   *
   * @param byName by the name of a program, or of a script without its {@code .py}: seconds of a
   *     pass and of each of its examples, with a space between them
   */
  public Paces(Map<String, String> byName) {
    this.byName = Map.copyOf(byName);
  }

  @Override
  public Map<String, String> of(Map<String, String> container, List<String> command) {
    String spec = container.getOrDefault("KASTOR_JOB_SPEC", "");
    Optional<String> runs = spec.isEmpty() ? Optional.empty() : runs(spec, command);
    if (runs.isEmpty()) {
      return Map.of();
    }
    String pace = byName.get(runs.get());
    if (pace == null) {
      if (unknown.add(runs.get())) {
        LOG.warn("{} has no figures among the paces: its passes are not paced", runs.get());
      }
      return Map.of();
    }
    return Map.of("KASTOR_PACE", pace);
  }

  /** The program that a replica runs, else its script. */
  private static Optional<String> runs(String spec, List<String> command) {
    try {
      String program = Json.MAPPER.readTree(spec).at("/program/name").asText("");
      if (!program.isEmpty()) {
        return Optional.of(program);
      }
    } catch (JsonProcessingException e) {
      // The replica says what is wrong with it.
      return Optional.empty();
    }
    return command.stream()
        .filter(word -> word.endsWith(SCRIPT))
        .map(word -> Path.of(word).getFileName().toString())
        .map(file -> file.substring(0, file.length() - SCRIPT.length()))
        .findFirst();
  }
}
