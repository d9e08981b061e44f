package dev.kastor.engine.program;

import dev.kastor.engine.data.Glance;
import dev.kastor.engine.data.GlyphImages;
import dev.kastor.engine.data.ImageShape;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.train.ProgramException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Glyphs that are drawn. */
final class GlyphSource implements ImageSource {
  @Override
  public Map<String, String> defaults() {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("trainingExamples", "20000");
    defaults.put("heldOutExamples", "2000");
    defaults.put("side", "16");
    defaults.put("difficulty", "1");
    return defaults;
  }

  private record Settings(GlyphImages images, int training, int heldOut) {
    static Settings of(Parameters parameters) throws ProgramException {
      int side = parameters.integer("side", 8, 256);
      int most = Math.min(10_000_000, Integer.MAX_VALUE / 2 / (side * side));
      return new Settings(
          new GlyphImages(parameters.seed(), side, parameters.decimal("difficulty", 0, 4)),
          parameters.integer("trainingExamples", 1, most),
          parameters.integer("heldOutExamples", 1, most));
    }
  }

  @Override
  public Glance glance(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    return settings.images.glance(settings.training);
  }

  @Override
  public Form form(Parameters parameters) throws ProgramException {
    ImageShape drawn = Settings.of(parameters).images.glance(1).shape();
    return new Form(
        new ImageShape(drawn.height(), drawn.width(), drawn.channels(), GlyphImages.classes()),
        new Inputs.Pixels(drawn.height(), drawn.width(), drawn.channels(), 1, 1, 0, 1),
        GlyphImages.names());
  }

  @Override
  public Images load(Parameters parameters) throws ProgramException {
    Settings settings = Settings.of(parameters);
    LabelledImages drawn = settings.images.draw(settings.training, settings.heldOut);
    return new Images(form(parameters), drawn.training(), drawn.heldOut());
  }
}
