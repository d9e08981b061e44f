package dev.kastor.engine.data;

/**
 * Labelled rows of tokens.
 *
 * @param width tokens of an example
 * @param tokens {@code [examples, width]} flat
 * @param labels one per example
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record Tokens(int width, int[] tokens, int[] labels) implements Examples {
  @Override
  public int examples() {
    return labels.length;
  }

  @Override
  public void gather(int[] examples, float[] features, int[] targets) {
    for (int i = 0; i < examples.length; i++) {
      for (int j = 0; j < width; j++) {
        features[i * width + j] = tokens[examples[i] * width + j];
      }
      targets[i] = labels[examples[i]];
    }
  }
}
