package dev.kastor.engine.exec;

import java.util.function.Supplier;

/** What an action can reach. */
public interface Surroundings {
  /** Where results are allocated. */
  Memory memory();

  /** The name of the run: the same in all parts of one that is partitioned. */
  String run();

  /** The iterations of the loops around this, from the outermost, as {@code /3/0}; else empty. */
  String iterations();

  /**
   * The session's state of a resource, made when it is first asked for.
   *
   * @param resource its name: equal resources share their state
   */
  <S> S state(Resource<S> resource, Supplier<S> first);
}
