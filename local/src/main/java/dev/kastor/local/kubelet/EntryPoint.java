package dev.kastor.local.kubelet;

import java.util.List;

/** What a container without a {@code command} runs: the stand-in for its image's entry point. */
@FunctionalInterface
public interface EntryPoint {
  /** The command line for an image. */
  List<String> command(String image);
}
