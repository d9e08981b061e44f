package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.PlainTextDataset;
import dev.kastor.engine.data.Stories;
import dev.kastor.engine.data.Text;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.nn.TransformerLanguageModel;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;

/** Predicts the next byte of a text with a small transformer. */
final class TextProgram implements Program {
  /** Where the text comes from. */
  private interface Source {
    Text load(Parameters parameters, int leastBytes) throws ProgramException, DataException;

    /** Bytes of its training part, without reading it. */
    int trainingBytes(Parameters parameters, int leastBytes) throws ProgramException, DataException;
  }

  private static final Source STORIES =
      new Source() {
        @Override
        public Text load(Parameters parameters, int leastBytes) {
          return Stories.load();
        }

        @Override
        public int trainingBytes(Parameters parameters, int leastBytes) {
          return Stories.load().training().length;
        }
      };

  private static final Source FILE =
      new Source() {
        @Override
        public Text load(Parameters parameters, int leastBytes)
            throws ProgramException, DataException {
          return PlainTextDataset.read(parameters.path("data"), leastBytes);
        }

        @Override
        public int trainingBytes(Parameters parameters, int leastBytes)
            throws ProgramException, DataException {
          return PlainTextDataset.trainingBytes(parameters.path("data"), leastBytes);
        }
      };

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
        STORIES);
  }

  static TextProgram textLm() {
    SequencedMap<String, String> defaults = defaults();
    defaults.putFirst("data", "");
    return new TextProgram(
        "text-lm", "Learns to continue a text file, byte by byte.", defaults, FILE);
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
  public Set<String> pathParameters() {
    return defaults.containsKey("data") ? Set.of("data") : Set.of();
  }

  private record Settings(int context, int stride, Network network) {
    static Settings of(Parameters parameters) throws ProgramException {
      parameters.checkShared();
      int context = parameters.integer("context", 2, 1024);
      int stride = parameters.integer("stride", 1, 1024);
      int width = parameters.integer("width", 1, 4096);
      int heads = parameters.integer("heads", 1, 64);
      int layers = parameters.integer("layers", 1, 48);
      try {
        return new Settings(
            context, stride, TransformerLanguageModel.ofBytes(context, width, heads, layers));
      } catch (IllegalArgumentException e) {
        throw ProgramException.of("heads", "Parameter 'heads': " + e.getMessage(), e);
      }
    }
  }

  @Override
  public OptionalLong check(Map<String, String> given) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    Settings settings = Settings.of(parameters);
    try {
      int bytes = source.trainingBytes(parameters, settings.context + 1);
      return OptionalLong.of(TextTrainable.examples(bytes, settings.context, settings.stride));
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
  }

  @Override
  public Optional<Model> model(Map<String, String> given) throws ProgramException {
    Settings settings = Settings.of(new Parameters(name, defaults, given));
    return Optional.of(new Model(settings.network, new Inputs.Bytes(settings.context), List.of()));
  }

  @Override
  public Trainable load(Map<String, String> given) throws ProgramException {
    return load(given, PassSettings.USUAL);
  }

  @Override
  public Trainable load(Map<String, String> given, PassSettings settings) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    Settings own = Settings.of(parameters);
    Text text;
    try {
      text = source.load(parameters, own.context + 1);
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    return new TextTrainable(
        BackendParameter.model(own.network, parameters, settings), text, own.context, own.stride);
  }

  @Override
  public Optimizer optimizer(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters(name, defaults, given));
  }
}
