package dev.kastor.cli.job;

import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.engine.program.ProgramCheck;
import dev.kastor.engine.program.TrainingMethod;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Check of the program, the parameters and the data of jobs that this machine will train. Its
 * classes are loaded by commands that submit, and no others.
 */
public final class JobCheck {
  private static final String PROGRAM = "spec.program";

  private static final String AS_A_PROCESS =
      "local mode runs the command on this machine, as you; image, securityContext and"
          + " limits are not looked at";

  private final Path plugins;
  private final Path folder;

  /**
   * A check.
   *
   * @param plugins folder with the jars of programs
   * @param folder where paths of data begin that are not absolute
   */
  public JobCheck(Path plugins, Path folder) {
    this.plugins = plugins;
    this.folder = folder.toAbsolutePath().normalize();
  }

  /**
   * Findings about a job, each with file, line and field.
   *
   * @param refusals what would make it fail
   * @param notes what it can be trained with, though it is odd
   */
  public record Findings(List<String> refusals, List<String> notes) {
    static final Findings NONE = new Findings(List.of(), List.of());

    public Findings {
      refusals = List.copyOf(refusals);
      notes = List.copyOf(notes);
    }
  }

  /**
   * Checks a job. Paths of its data become those of this machine. Of a template no more is said
   * than that it is not run as on a cluster.
   */
  public Findings check(ManifestFile manifest) {
    if (manifest.isJob() && manifest.resource().get("spec", "template") != null) {
      return new Findings(List.of(), List.of(manifest.at("spec.template", AS_A_PROCESS)));
    }
    if (!manifest.isJob()
        || !(manifest.resource().get("spec", "program") instanceof Map<?, ?> program)
        || !(program.get("name") instanceof String name)) {
      return Findings.NONE;
    }
    ProgramCheck check = ProgramCheck.of(name, texts(program), plugins, folder);
    if (!check.parameters().isEmpty()) {
      manifest.set(check.parameters(), "spec", "program", "parameters");
    }
    List<String> lines = new ArrayList<>();
    for (ProgramCheck.Problem problem : check.problems()) {
      String field =
          problem
              .parameter()
              .map(parameter -> PROGRAM + ".parameters." + parameter)
              .orElse(PROGRAM + ".name");
      lines.add(manifest.at(field, problem.message()));
    }
    lines.addAll(training(manifest, texts(program)));
    lines.addAll(batch(manifest, "initial", check.mostExamples(), "Lower it, or give more data"));
    return new Findings(
        lines,
        batch(manifest, "max", check.mostExamples(), "A step then sees some of them repeatedly"));
  }

  /** The message begins with the field, which may be part of a list. */
  private List<String> training(ManifestFile manifest, Map<String, String> parameters) {
    Object training = manifest.resource().get("spec", "training");
    if (!(training instanceof Map<?, ?> given)) {
      return List.of();
    }
    Map<String, Object> named = new LinkedHashMap<>();
    given.forEach((name, value) -> named.put(String.valueOf(name), value));
    return TrainingMethod.problem(
            named,
            elastic(manifest, "slotsPerReplica"),
            elastic(manifest, "maxReplicas"),
            parameters,
            plugins)
        .map(problem -> manifest.at("spec.training", problem))
        .stream()
        .toList();
  }

  private static int elastic(ManifestFile manifest, String field) {
    return manifest.resource().get("spec", "elastic", field) instanceof Number number
        ? number.intValue()
        : 1;
  }

  private static List<String> batch(
      ManifestFile manifest, String field, OptionalLong examples, String advice) {
    Object batch = manifest.resource().get("spec", "goodput", "batchSize", field);
    return batch instanceof Number number
            && examples.isPresent()
            && number.longValue() > examples.getAsLong()
        ? List.of(
            manifest.at(
                "spec.goodput.batchSize." + field,
                "%d is above the number of training examples, which is at most %d. %s"
                    .formatted(number.longValue(), examples.getAsLong(), advice)))
        : List.of();
  }

  private static Map<String, String> texts(Map<?, ?> program) {
    Map<String, String> texts = new LinkedHashMap<>();
    if (program.get("parameters") instanceof Map<?, ?> given) {
      given.forEach((name, text) -> texts.put(String.valueOf(name), String.valueOf(text)));
    }
    return texts;
  }
}
