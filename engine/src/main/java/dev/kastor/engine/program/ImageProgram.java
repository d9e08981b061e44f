package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Glance;
import dev.kastor.engine.data.ImageShape;
import dev.kastor.engine.nn.ConvNet;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;

/** Classifies images: one of two sources of images with one of two networks. */
final class ImageProgram implements Program {
  /** What looks at images. */
  private interface Architecture {
    Network build(Parameters parameters, ImageShape images) throws ProgramException;
  }

  private final String name;
  private final String description;
  private final SequencedMap<String, String> defaults;
  private final ImageSource source;
  private final Architecture architecture;

  private ImageProgram(
      String name,
      String description,
      ImageSource source,
      Map<String, String> widths,
      Architecture architecture) {
    this.name = name;
    this.description = description;
    this.source = source;
    this.architecture = architecture;
    SequencedMap<String, String> all = new LinkedHashMap<>();
    all.put("seed", "1");
    all.putAll(source.defaults());
    all.putAll(widths);
    all.put("optimizer", "sgd");
    all.put("momentum", "0.9");
    all.put("weightDecay", "0.0001");
    all.put("backend", "auto");
    all.put("precision", "fp32");
    this.defaults = Collections.unmodifiableSequencedMap(all);
  }

  static ImageProgram glyphMlp() {
    return new ImageProgram(
        "glyph-mlp",
        "Tells drawn glyphs apart with fully connected layers.",
        new GlyphSource(),
        Map.of("hidden", "512,256"),
        ImageProgram::mlp);
  }

  static ImageProgram glyphCnn() {
    return new ImageProgram(
        "glyph-cnn",
        "Tells drawn glyphs apart with convolutions and batch normalisation.",
        new GlyphSource(),
        Map.of("channels", "16,32,64"),
        ImageProgram::convNet);
  }

  static ImageProgram imageMlp() {
    return new ImageProgram(
        "image-mlp",
        "Classifies images or rows of numbers from files with fully connected layers.",
        new FileSource(),
        Map.of("hidden", "512,256"),
        ImageProgram::mlp);
  }

  static ImageProgram imageCnn() {
    return new ImageProgram(
        "image-cnn",
        "Classifies images from files with convolutions and batch normalisation.",
        new FileSource(),
        Map.of("channels", "32,64"),
        ImageProgram::convNet);
  }

  private static Network mlp(Parameters parameters, ImageShape images) throws ProgramException {
    return new Mlp(images.features(), parameters.widths("hidden", 0, 16), images.classes());
  }

  private static Network convNet(Parameters parameters, ImageShape images) throws ProgramException {
    try {
      return new ConvNet(
          images.channels(),
          images.height(),
          images.width(),
          images.classes(),
          parameters.widths("channels", 1, 8));
    } catch (IllegalArgumentException e) {
      throw ProgramException.of(
          "channels", "Parameter 'channels' does not fit the images: " + e.getMessage(), e);
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
  public Set<String> pathParameters() {
    return defaults.containsKey("data") ? Set.of("data") : Set.of();
  }

  @Override
  public OptionalLong check(Map<String, String> given) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    parameters.checkShared();
    Glance glance;
    try {
      glance = source.glance(parameters);
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    architecture.build(parameters, glance.shape());
    return glance.mostExamples();
  }

  @Override
  public Optional<Model> model(Map<String, String> given) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    ImageSource.Form form;
    try {
      form = source.form(parameters);
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    Network network = architecture.build(parameters, form.shape());
    return Optional.of(new Model(network, form.inputs(), form.labels()));
  }

  @Override
  public Trainable load(Map<String, String> given) throws ProgramException {
    return load(given, PassSettings.USUAL);
  }

  @Override
  public Trainable load(Map<String, String> given, PassSettings settings) throws ProgramException {
    Parameters parameters = new Parameters(name, defaults, given);
    parameters.checkShared();
    ImageSource.Images images;
    try {
      images = source.load(parameters);
    } catch (DataException e) {
      throw parameters.unusable(e);
    }
    Network network = architecture.build(parameters, images.form().shape());
    return new ClassifierTrainable(
        BackendParameter.model(network, parameters, settings), images.training(), images.heldOut());
  }

  @Override
  public Optimizer optimizer(Map<String, String> given) throws ProgramException {
    return OptimizerParameters.create(new Parameters(name, defaults, given));
  }
}
