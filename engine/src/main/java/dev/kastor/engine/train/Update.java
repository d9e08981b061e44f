package dev.kastor.engine.train;

import dev.kastor.engine.tensor.Layout;
import java.util.SequencedMap;

/**
 * Arguments of a step of an optimizer.
 *
 * @param layout of parameters and gradient
 * @param parameters to be updated in place
 * @param gradient mean gradient over the global batch; may be overwritten
 * @param slots the optimizer's vectors by name, to be updated in place
 * @param learningRate of this step
 * @param step optimizer steps applied before this one
 */
// Arrays on purpose: vectors of millions of floats, written in place, never compared.
@SuppressWarnings("ArrayRecordComponent")
public record Update(
    Layout layout,
    float[] parameters,
    float[] gradient,
    SequencedMap<String, float[]> slots,
    double learningRate,
    long step) {
  /** The vector of this name. */
  public float[] slot(String name) {
    float[] slot = slots.get(name);
    if (slot == null) {
      throw new IllegalArgumentException(
          "the optimizer has no slot '%s' but %s".formatted(name, slots.keySet()));
    }
    return slot;
  }
}
