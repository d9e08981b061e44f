package dev.kastor.e2e.image;

import java.util.List;

/**
 * An image to be, for one architecture.
 *
 * @param name with host and tag, such as {@code docker.io/kastor/operator:1.0}
 * @param layers what it holds, what changes least first
 * @param entrypoint what runs in it
 * @param environment variables, each as {@code NAME=VALUE}
 * @param folder the working folder
 * @param platform what it runs on
 */
record Image(
    String name,
    List<Layer> layers,
    List<String> entrypoint,
    List<String> environment,
    String folder,
    Platform platform) {
  Image {
    layers = List.copyOf(layers);
    entrypoint = List.copyOf(entrypoint);
    environment = List.copyOf(environment);
  }

  /** An image without variables of its own, whose program starts in the root folder. */
  Image(String name, List<Layer> layers, List<String> entrypoint, Platform platform) {
    this(name, layers, entrypoint, List.of(), "/", platform);
  }

  /** The same for the machine on which it is made. */
  Image(String name, List<Layer> layers, List<String> entrypoint) {
    this(name, layers, entrypoint, Platform.X86_64);
  }

  /** The name without its tag. */
  String repository() {
    return name.substring(0, name.lastIndexOf(':'));
  }
}
