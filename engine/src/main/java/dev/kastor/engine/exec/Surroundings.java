package dev.kastor.engine.exec;

/** What an action can reach. */
public interface Surroundings {
  /** Where results are allocated. */
  Memory memory();

  /** The name of the run: the same in all parts of one that is partitioned. */
  String run();

  /** The iterations of the loops around this, from the outermost, as {@code /3/0}; else empty. */
  String iterations();
}
