package dev.kastor.local.kubelet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What has to be the same for a process to become one pod or another: the namespace, the program,
 * and the variables that it reads when it starts.
 *
 * <p>There are two: the training agent, and an interpreter of Python that runs a script.
 *
 * @param namespace whose pods it may become; a variable can be a secret of the namespace
 * @param line the command that waits
 * @param environment variables that it is started with
 */
record SpareKind(String namespace, List<String> line, Map<String, String> environment) {
  /** Start of the names of variables that are read when the process has a pod. */
  private static final String LATE = "KASTOR_";

  /** Those of them that the engine reads itself, wherever it is. */
  private static final Set<String> EARLY =
      Set.of("KASTOR_THREADS", "KASTOR_GPU_MEMORY_MIB", "KASTOR_CUDA_LIBRARIES");

  /** What PyTorch reads when a script first uses a GPU. */
  private static final String GPUS = "CUDA_VISIBLE_DEVICES";

  private static final Pattern PYTHON = Pattern.compile("python(3(\\.\\d+)?)?");
  private static final Pattern OPTION = Pattern.compile("-[uBbdOqsSv]+");
  private static final String WAIT = "import kastor.spare; exec(kastor.spare.ready())";

  SpareKind {
    line = List.copyOf(line);
    environment = Map.copyOf(environment);
  }

  /** The kind that could become a pod; empty where only a process of its own can. */
  static Optional<SpareKind> of(PodCommand pod) {
    Map<String, String> environment = new HashMap<>(pod.environment());
    environment.keySet().removeIf(name -> name.startsWith(LATE) && !EARLY.contains(name));
    if (pod.ofImage()) {
      // A JVM stays in the folder in which it was started.
      return pod.workingDirectory().equals(pod.folder())
          ? Optional.of(new SpareKind(pod.namespace(), pod.line(), environment))
          : Optional.empty();
    }
    environment.remove(GPUS);
    int script = script(pod.line());
    if (script == 0) {
      return Optional.empty();
    }
    List<String> line = new ArrayList<>(pod.line().subList(0, script));
    line.addAll(List.of("-c", WAIT));
    return Optional.of(new SpareKind(pod.namespace(), line, environment));
  }

  /** Script and arguments of a pod of this kind; none for the training agent. */
  static List<String> arguments(PodCommand pod) {
    return pod.ofImage() ? List.of() : pod.line().subList(script(pod.line()), pod.line().size());
  }

  /** The place of the script in the command of an interpreter; 0 where it is none. */
  private static int script(List<String> line) {
    String program = line.isEmpty() ? "" : line.getFirst();
    if (!PYTHON.matcher(program.substring(program.lastIndexOf('/') + 1)).matches()) {
      return 0;
    }
    int place = 1;
    while (place < line.size() && OPTION.matcher(line.get(place)).matches()) {
      place++;
    }
    return place < line.size() && line.get(place).endsWith(".py") ? place : 0;
  }
}
