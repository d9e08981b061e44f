package dev.kastor.engine.program;

import dev.kastor.engine.data.DataException;
import dev.kastor.engine.data.Examples;
import dev.kastor.engine.data.Glance;
import dev.kastor.engine.data.ImageShape;
import dev.kastor.engine.data.LabelledImages;
import dev.kastor.engine.train.ProgramException;
import java.util.Map;

/** Source of labelled images with the parameters that say which. */
interface ImageSource {
  /**
   * Images in memory.
   *
   * @param shape shape of each
   * @param training what is trained on
   * @param heldOut what only evaluation sees
   */
  record Images(ImageShape shape, Examples training, Examples heldOut) {
    static Images of(LabelledImages images) {
      return new Images(images.training().shape(), images.training(), images.heldOut());
    }
  }

  /** Its parameters with their defaults. */
  Map<String, String> defaults();

  /** Checks its parameters, and of the data what takes milliseconds. */
  Glance glance(Parameters parameters) throws ProgramException, DataException;

  /** Reads or draws all images. */
  Images load(Parameters parameters) throws ProgramException, DataException;
}
