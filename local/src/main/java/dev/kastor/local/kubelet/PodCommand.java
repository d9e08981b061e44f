package dev.kastor.local.kubelet;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Command of the process of a pod, with the place where it runs.
 *
 * @param namespace of the pod
 * @param ofImage whether the pod leaves it to its image what is run, which is the training agent
 * @param line program and arguments
 * @param environment variables of its own
 * @param folder of the pod
 * @param workingDirectory where it runs
 * @param log where its output goes
 * @param terminationLog where it may leave its last words
 */
record PodCommand(
    String namespace,
    boolean ofImage,
    List<String> line,
    Map<String, String> environment,
    Path folder,
    Path workingDirectory,
    Path log,
    Path terminationLog) {
  PodCommand {
    line = List.copyOf(line);
    environment = Map.copyOf(environment);
  }
}
