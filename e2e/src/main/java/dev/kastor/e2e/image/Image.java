package dev.kastor.e2e.image;

import java.util.List;

/**
 * An image to be.
 *
 * @param name with host and tag, such as {@code docker.io/kastor/operator:1.0}
 * @param layers what it holds, what changes least first
 * @param entrypoint what runs in it
 */
record Image(String name, List<Layer> layers, List<String> entrypoint) {
  Image {
    layers = List.copyOf(layers);
    entrypoint = List.copyOf(entrypoint);
  }

  /** The name without its tag. */
  String repository() {
    return name.substring(0, name.lastIndexOf(':'));
  }
}
