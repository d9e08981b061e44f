package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.nio.file.Path;
import java.util.List;

/** Starts the training agent on the JDK that runs this process. */
final class AgentEntryPoint implements EntryPoint {
  private final String classPath;
  private final Path nativeLibraries;

  /**
   * @param nativeLibraries folder for the native libraries that the agent unpacks from its jars,
   *     which would otherwise go to the user's home
   */
  AgentEntryPoint(String classPath, Path nativeLibraries) {
    this.classPath = classPath;
    this.nativeLibraries = nativeLibraries;
  }

  @Override
  public List<String> command(String image) {
    return List.of(
        Installation.java(),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.bytedeco.javacpp.cachedir=" + nativeLibraries,
        "-cp",
        classPath,
        "dev.kastor.agent.Agent");
  }
}
