package dev.kastor.engine.train;

/**
 * Change of the parameters after the optimizer's step: a projection, or a rewrite of parameters and
 * of the optimizer's state.
 *
 * <p>All replicas apply it to the same bits and must come to the same ones: no clock, no
 * randomness, no order of a hash table. It has no state of its own. One thread calls it.
 */
@FunctionalInterface
public interface UpdateStage {
  /**
   * Changes parameters and slots in place.
   *
   * @param update what the optimizer was given, with parameters and slots as it left them
   */
  void change(Update update);
}
