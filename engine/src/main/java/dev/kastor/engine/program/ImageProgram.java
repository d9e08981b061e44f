package dev.kastor.engine.program;

import dev.kastor.engine.data.Cifar10Dataset;
import dev.kastor.engine.data.CsvDataset;
import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.engine.data.IdxDataset;
import dev.kastor.engine.data.ImageSet;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.nn.ConvNet;
import dev.kastor.engine.nn.GraphModel;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/** Classifies images: one of two sources of images with one of two networks. */
final class ImageProgram implements Program {
  /** Where the images come from. */
  private interface Source {
    LabelledImages load(Parameters parameters) throws ProgramException, DataException;
  }

  /** What looks at them. */
  private interface Architecture {
    Network build(Parameters parameters, ImageSet images) throws ProgramException;
  }

  private final String name;
  private final String description;
  private final SequencedMap<String, String> defaults;
  private final Source source;
  private final Architecture architecture;

  private ImageProgram(
      String name,
      String description,
      SequencedMap<String, String> defaults,
      Source source,
      Architecture architecture) {
    this.name = name;
    this.description = description;
    this.defaults = Collections.unmodifiableSequencedMap(defaults);
    this.source = source;
    this.architecture = architecture;
  }

  static ImageProgram glyphMlp() {
    SequencedMap<String, String> defaults = glyphDefaults();
    defaults.put("hidden", "512,256");
    return new ImageProgram(
        "glyph-mlp",
        "Tells drawn glyphs apart with fully connected layers.",
        withOptimizer(defaults),
        ImageProgram::drawGlyphs,
        ImageProgram::mlp);
  }

  static ImageProgram glyphCnn() {
    SequencedMap<String, String> defaults = glyphDefaults();
    defaults.put("channels", "16,32,64");
    return new ImageProgram(
        "glyph-cnn",
        "Tells drawn glyphs apart with convolutions and batch normalisation.",
        withOptimizer(defaults),
        ImageProgram::drawGlyphs,
        ImageProgram::convNet);
  }

  static ImageProgram imageMlp() {
    SequencedMap<String, String> defaults = fileDefaults();
    defaults.put("hidden", "512,256");
    return new ImageProgram(
        "image-mlp",
        "Classifies images or rows of numbers from files with fully connected layers.",
        withOptimizer(defaults),
        ImageProgram::readFiles,
        ImageProgram::mlp);
  }

  static ImageProgram imageCnn() {
    SequencedMap<String, String> defaults = fileDefaults();
    defaults.put("channels", "32,64");
    return new ImageProgram(
        "image-cnn",
        "Classifies images from files with convolutions and batch normalisation.",
        withOptimizer(defaults),
        ImageProgram::readFiles,
        ImageProgram::convNet);
  }

  private static SequencedMap<String, String> glyphDefaults() {
    SequencedMap<String, String> defaults = new LinkedHashMap<>();
    defaults.put("seed", "1");
    defaults.put("trainingExamples", "20000");
    defaults.put("heldOutExamples", "2000");
    defaults.put("side", "16");
    defaults.put("difficulty", "1");
    return defaults;
  }

  private static SequencedMap<String, String> fileDefaults() {
    SequencedMap<String, String> defaults = new LinkedHashMap<>();
    defaults.put("seed", "1");
    defaults.put("format", "idx");
    defaults.put("data", "");
    defaults.put("labelColumn", "label");
    defaults.put("holdOutEvery", "10");
    return defaults;
  }

  private static SequencedMap<String, String> withOptimizer(SequencedMap<String, String> defaults) {
    defaults.put("optimizer", "sgd");
    defaults.put("momentum", "0.9");
    defaults.put("weightDecay", "0.0001");
    defaults.put("backend", "auto");
    defaults.put("precision", "fp32");
    return defaults;
  }

  private static LabelledImages drawGlyphs(Parameters parameters) throws ProgramException {
    int side = parameters.integer("side", 8, 256);
    int mostExamples = Math.min(10_000_000, Integer.MAX_VALUE / 2 / (side * side));
    return new GlyphImages(parameters.seed(), side, parameters.decimal("difficulty", 0, 4))
        .draw(
            parameters.integer("trainingExamples", 1, mostExamples),
            parameters.integer("heldOutExamples", 1, mostExamples));
  }

  private static LabelledImages readFiles(Parameters parameters)
      throws ProgramException, DataException {
    int holdOutEvery = parameters.integer("holdOutEvery", 2, 1_000_000);
    Path data = parameters.path("data");
    return switch (parameters.text("format")) {
      case "idx" -> IdxDataset.readFolder(data).standardized(false);
      case "cifar10" -> Cifar10Dataset.readFolder(data).standardized(false);
      case "csv" ->
          CsvDataset.read(data, parameters.text("labelColumn"), holdOutEvery).standardized(true);
      default -> throw parameters.wrong("format", "one of idx, cifar10, csv");
    };
  }

  private static Network mlp(Parameters parameters, ImageSet images) throws ProgramException {
    return new Mlp(images.features(), parameters.widths("hidden", 0, 16), images.classes());
  }

  private static Network convNet(Parameters parameters, ImageSet images) throws ProgramException {
    try {
      return new ConvNet(
          images.channels(),
          images.height(),
          images.width(),
          images.classes(),
          parameters.widths("channels", 1, 8));
    } catch (IllegalArgumentException e) {
      throw new ProgramException(
          "Parameter 'channels' does not fit the images: " + e.getMessage(), e);
    }
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
    LabelledImages images;
    try {
      images = source.load(parameters);
    } catch (DataException e) {
      throw new ProgramException("Program %s: %s".formatted(name, e.getMessage()), e);
    }
    Network network = architecture.build(parameters, images.training());
    return new ClassifierTrainable(
        new GraphModel(network, BackendParameter.choose(parameters), parameters.seed()),
        images.training(),
        images.heldOut());
  }

  @Override
  public Optimizer optimizer(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters(name, defaults, given));
  }
}
