package dev.kastor.paper;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Setting of a reproduction.
 *
 * @param traces folder of the published workloads, if the user has it
 * @param seed of all random choices; further seeds follow it
 * @param reduced whether a part of the work suffices, to see that it runs; its verdict means
 *     nothing
 * @param threads that compute at once
 * @param progress is told what begins or ended, in one line
 */
public record Trial(
    Optional<Path> traces, long seed, boolean reduced, int threads, Consumer<String> progress) {
  /**
   * The folder of the published workloads.
   *
   * @param part a folder that it must hold
   * @throws PaperException if there is none
   */
  public Path traces(String part) throws PaperException {
    Path folder = traces.orElse(null);
    if (folder == null || !folder.resolve(part).toFile().isDirectory()) {
      throw new PaperException(
          "the published workloads are missing%s. They are not in the repository: give the folder that holds %s/ with --traces or KASTOR_TRACES (docs/traces.md)."
              .formatted(folder == null ? "" : " in " + folder, part));
    }
    return folder;
  }
}
