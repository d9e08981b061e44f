package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.PlainTextDataset;
import dev.kastor.engine.data.Stories;
import dev.kastor.engine.data.Text;
import dev.kastor.engine.nn.ByteLanguageModel;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/** Predicts the next byte of a text with a small transformer. */
final class TextProgram implements Program {
  /** Where the text comes from. */
  private interface Source {
    Text load(Parameters parameters, int leastBytes) throws ProgramException, DataException;
  }

  private final String name;
  private final String description;
  private final SequencedMap<String, String> defaults;
  private final Source source;

  private TextProgram(
      String name, String description, SequencedMap<String, String> defaults, Source source) {
    this.name = name;
    this.description = description;
    this.defaults = Collections.unmodifiableSequencedMap(defaults);
    this.source = source;
  }

  static TextProgram byteLm() {
    return new TextProgram(
        "byte-lm",
        "Learns to continue the stories that Kastor ships, byte by byte.",
        defaults(),
        (parameters, leastBytes) -> Stories.load());
  }

  static TextProgram textLm() {
    SequencedMap<String, String> defaults = defaults();
    defaults.putFirst("data", "");
    return new TextProgram(
        "text-lm",
        "Learns to continue a text file, byte by byte.",
        defaults,
        (parameters, leastBytes) -> PlainTextDataset.read(parameters.path("data"), leastBytes));
  }

  private static SequencedMap<String, String> defaults() {
    SequencedMap<String, String> defaults = new LinkedHashMap<>();
    defaults.put("seed", "1");
    defaults.put("context", "64");
    defaults.put("stride", "8");
    defaults.put("width", "96");
    defaults.put("heads", "4");
    defaults.put("layers", "2");
    defaults.put("optimizer", "adam");
    defaults.put("momentum", "0.9");
    defaults.put("weightDecay", "0.01");
    defaults.put("backend", "auto");
    defaults.put("precision", "fp32");
    return defaults;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Map<String, String> defaultParameters() {
    return defaults;
  }

  @Override
  public Trainable load(Map<String, String> given) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    OptimizerParameters.create(parameters);
    int context = parameters.integer("context", 2, 1024);
    int stride = parameters.integer("stride", 1, 1024);
    Network network;
    try {
      network =
          new ByteLanguageModel(
              context,
              parameters.integer("width", 1, 4096),
              parameters.integer("heads", 1, 64),
              parameters.integer("layers", 1, 48));
    } catch (IllegalArgumentException e) {
      throw new ProgramException("Program %s: %s".formatted(name, e.getMessage()), e);
    }
    Text text;
    try {
      text = source.load(parameters, context + 1);
    } catch (DataException e) {
      throw new ProgramException("Program %s: %s".formatted(name, e.getMessage()), e);
    }
    return new TextTrainable(
        new GraphModel(network, BackendParameter.choose(parameters), parameters.seed()),
        text,
        context,
        stride);
  }

  @Override
  public Optimizer optimizer(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters(name, defaults, given));
  }
}
