package dev.kastor.e2e.program;

import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Program that trains one of the engine's as if its examples came from a store that gives each
 * replica so many a second.
 *
 * <p>Its jobs last for long at little processor time, whatever else the machine does, and end soon
 * when they may: where a file {@code fast} lies beside its jar, the store gives all at once.
 * Networks are small, since what they learn is not what is tested.
 */
public final class SlowReading implements Program {
  /** Name of this program. */
  public static final String NAME = "slow-reading";

  /** File in the folder of plug-ins that ends the waiting. */
  public static final String FAST = "fast";

  private static final String PROGRAM = "program";
  private static final String RATE = "examplesPerSecond";

  /** Parameters of programs that differ from their own defaults. */
  private static final Map<String, Map<String, String>> SMALL =
      Map.of(
          "glyph-mlp", Map.of("hidden", "64"),
          "glyph-cnn", Map.of("channels", "4,8,8"),
          "byte-lm", Map.of("context", "16", "width", "16", "heads", "2", "layers", "1"));

  private static final Path PLUGINS = Path.of(System.getProperty("kastor.plugins", "/app/plugins"));

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Trains another program, whose examples come from a slow store.";
  }

  @Override
  public Map<String, String> defaultParameters() {
    return Map.of(PROGRAM, "glyph-mlp", RATE, "100");
  }

  @Override
  public Optional<Model> model(Map<String, String> parameters) throws ProgramException {
    Program program = program(parameters);
    return program.model(parametersOf(program));
  }

  @Override
  public Trainable load(Map<String, String> parameters) throws ProgramException {
    return load(parameters, PassSettings.USUAL);
  }

  @Override
  public Trainable load(Map<String, String> parameters, PassSettings settings)
      throws ProgramException {
    Program program = program(parameters);
    double nanosPerExample = 1e9 / rate(parameters);
    Trainable trainable = program.load(parametersOf(program), settings);
    return new SlowTrainable(
        trainable,
        examples -> {
          if (!Files.exists(PLUGINS.resolve(FAST))) {
            sleep(Duration.ofNanos((long) (examples * nanosPerExample)));
          }
        });
  }

  @Override
  public Optimizer optimizer(Map<String, String> parameters) throws ProgramException {
    Program program = program(parameters);
    return program.optimizer(parametersOf(program));
  }

  private static Program program(Map<String, String> parameters) throws ProgramException {
    return Programs.get(parameters.getOrDefault(PROGRAM, ""));
  }

  private static Map<String, String> parametersOf(Program program) {
    Map<String, String> all = new LinkedHashMap<>(program.defaultParameters());
    all.putAll(SMALL.getOrDefault(program.name(), Map.of()));
    return all;
  }

  private static double rate(Map<String, String> parameters) throws ProgramException {
    String given = parameters.getOrDefault(RATE, "");
    try {
      double rate = Double.parseDouble(given);
      if (rate > 0) {
        return rate;
      }
    } catch (NumberFormatException e) {
      // The same message.
    }
    throw new ProgramException("%s must be a number above 0, not %s".formatted(RATE, given));
  }

  private static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The training loop ends at its next check.
    }
  }
}
