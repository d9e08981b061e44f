package dev.kastor.local;

import dev.kastor.local.kubelet.EntryPoint;
import java.nio.file.Path;
import java.util.List;

/** Starts the training agent on the JDK that runs this process. */
final class AgentEntryPoint implements EntryPoint {
  private final String classPath;
  private final Path nativeLibraries;
  private final Path programs;

  /**
   * @param nativeLibraries folder for the native libraries that the agent unpacks from its jars,
   *     which would otherwise go to the user's home
   * @param programs folder with the user's own programs, if it exists
   */
  AgentEntryPoint(String classPath, Path nativeLibraries, Path programs) {
    this.classPath = classPath;
    this.nativeLibraries = nativeLibraries;
    this.programs = programs;
  }

  @Override
  public List<String> command(String image) {
    return List.of(
        Installation.java(),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.bytedeco.javacpp.cachedir=" + nativeLibraries,
        "-Dkastor.programs=" + programs,
        "-cp",
        classPath,
        "dev.kastor.agent.Agent");
  }
}
