package dev.kastor.engine.backend.cuda;

/** Something that a library has prepared and computes again and again. */
interface LibraryPlan extends AutoCloseable {
  /**
   * Begins it on a stream.
   *
   * @param first address of what is taken
   * @param second address of the other that is taken
   * @param result address of what is computed
   * @param workspace address of as many bytes as it may use
   */
  void run(long first, long second, long result, long workspace, long stream);

  @Override
  void close();
}
