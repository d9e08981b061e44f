package dev.kastor.engine.program;

import dev.kastor.engine.data.Cifar10Dataset;
import dev.kastor.engine.data.CsvDataset;
import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Glance;
import dev.kastor.engine.data.IdxDataset;
import dev.kastor.engine.data.ImageFolder;
import dev.kastor.engine.data.ImageFolder.Colours;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.train.ProgramException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Images, or rows of numbers, in files of several formats. */
final class FileSource implements ImageSource {
  private static final int LARGEST_SIDE = 2048;

  /** Formats of files. */
  private enum Format {
    IDX,
    CIFAR10,
    CSV,
    FOLDER;

    /** The format of files that do not say. */
    static Format of(Path data) {
      if (!Files.isDirectory(data)) {
        return CSV;
      }
      return IdxDataset.isIn(data) ? IDX : Cifar10Dataset.isIn(data) ? CIFAR10 : FOLDER;
    }
  }

  @Override
  public Map<String, String> defaults() {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("format", "auto");
    defaults.put("data", "");
    defaults.put("labelColumn", "label");
    defaults.put("holdOutEvery", "10");
    defaults.put("side", "");
    defaults.put("colours", "auto");
    return defaults;
  }

  private record Settings(Path data, Format format, String labelColumn, ImageFolder.Rules folder) {
    static Settings of(Parameters parameters) throws ProgramException {
      int holdOutEvery = parameters.integer("holdOutEvery", 2, 1_000_000);
      int side =
          parameters.text("side").isEmpty() ? 0 : parameters.integer("side", 1, LARGEST_SIDE);
      Colours colours = choice(parameters, "colours", Colours.values());
      Path data = parameters.path("data");
      Format format =
          parameters.text("format").equals("auto")
              ? Format.of(data)
              : choice(parameters, "format", Format.values());
      return new Settings(
          data,
          format,
          parameters.text("labelColumn"),
          new ImageFolder.Rules(holdOutEvery, side, colours));
    }
  }

  private static <E extends Enum<E>> E choice(Parameters parameters, String name, E[] constants)
      throws ProgramException {
    List<String> names =
        Arrays.stream(constants).map(each -> each.name().toLowerCase(Locale.ROOT)).toList();
    int at = names.indexOf(parameters.text(name));
    if (at < 0) {
      String auto = names.contains("auto") ? "" : "auto, ";
      throw parameters.wrong(name, "one of " + auto + String.join(", ", names));
    }
    return constants[at];
  }

  @Override
  public Glance glance(Parameters parameters) throws ProgramException, DataException {
    Settings settings = Settings.of(parameters);
    return switch (settings.format) {
      case IDX -> IdxDataset.glance(settings.data);
      case CIFAR10 -> Cifar10Dataset.glance(settings.data);
      case CSV ->
          CsvDataset.glance(settings.data, settings.labelColumn, settings.folder.holdOutEvery());
      case FOLDER -> ImageFolder.glance(settings.data, settings.folder);
    };
  }

  @Override
  public Images load(Parameters parameters) throws ProgramException, DataException {
    Settings settings = Settings.of(parameters);
    return switch (settings.format) {
      case IDX -> standardized(IdxDataset.readFolder(settings.data));
      case CIFAR10 -> standardized(Cifar10Dataset.readFolder(settings.data));
      case CSV -> {
        CsvDataset table =
            CsvDataset.read(settings.data, settings.labelColumn, settings.folder.holdOutEvery());
        LabelledImages.Standard standard = table.images().standard(true);
        LabelledImages images = table.images().with(standard);
        yield new Images(
            new Form(
                images.training().shape(),
                new Inputs.Numbers(table.columns(), standard.mean(), standard.factor()),
                table.labels()),
            images.training(),
            images.heldOut());
      }
      case FOLDER -> {
        ImageFolder folder = ImageFolder.read(settings.data, settings.folder);
        yield new Images(
            new Form(folder.training().shape(), folder.inputs(), folder.labels()),
            folder.training(),
            folder.heldOut());
      }
    };
  }

  private static Images standardized(LabelledImages images) {
    LabelledImages.Standard standard = images.standard(false);
    LabelledImages standardized = images.with(standard);
    return new Images(
        Form.ofBytes(images, standard), standardized.training(), standardized.heldOut());
  }
}
