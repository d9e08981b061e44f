package dev.kastor.engine.data;

/** Numbered examples in memory, each of so many values with so many targets. */
public interface Examples {
  /** How many there are, numbered from 0. */
  int examples();

  /**
   * Gathers examples side by side.
   *
   * @param examples numbers, in the order wanted
   * @param features receives the values of each, one example after the other
   * @param targets receives the class of each, or of each of its positions
   */
  void gather(int[] examples, float[] features, int[] targets);
}
