package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Examples;
import dev.kastor.engine.data.Glance;
import dev.kastor.engine.data.ImageShape;
import dev.kastor.engine.data.Inputs;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.train.ProgramException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Source of labelled images with the parameters that say which. */
interface ImageSource {
  /**
   * Form of images, without the images.
   *
   * @param shape shape of each
   * @param inputs how a file becomes features
   * @param labels names of the classes
   */
  record Form(ImageShape shape, Inputs inputs, List<String> labels) {
    public Form {
      labels = List.copyOf(labels);
    }

    /** Form of images of one byte for each value, of classes that have numbers alone. */
    static Form ofBytes(LabelledImages images, LabelledImages.Standard standard) {
      ImageShape shape = images.training().shape();
      return new Form(
          shape,
          new Inputs.Pixels(
              shape.height(),
              shape.width(),
              shape.channels(),
              Inputs.Pixels.BYTE,
              Inputs.Pixels.BYTE,
              standard.mean()[0],
              standard.factor()[0]),
          IntStream.range(0, shape.classes()).mapToObj(Integer::toString).toList());
    }
  }

  /**
   * Images in memory.
   *
   * @param training what is trained on
   * @param heldOut what only evaluation sees
   */
  record Images(Form form, Examples training, Examples heldOut) {}

  /** Its parameters with their defaults. */
  Map<String, String> defaults();

  /** Checks its parameters, and of the data what takes milliseconds. */
  Glance glance(Parameters parameters) throws ProgramException, DataException;

  /** The form of all images, for which they may have to be read. */
  default Form form(Parameters parameters) throws ProgramException, DataException {
    return load(parameters).form();
  }

  /** Reads or draws all images. */
  Images load(Parameters parameters) throws ProgramException, DataException;
}
