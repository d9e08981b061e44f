package dev.kastor.local.kubelet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Kind of spare processes: pods of one kind have the same namespace, the same program, the same
 * variables that it reads when it starts, and the same folder from which it resolves them.
 *
 * <p>There are two: the training agent, and an interpreter of Python that runs a script.
 *
 * @param namespace whose pods it may become; a variable can be a secret of the namespace
 * @param line the command that waits
 * @param environment variables that it is started with
 * @param workingDirectory that the pods name; empty where each has a folder of its own
 */
record SpareKind(
    String namespace,
    List<String> line,
    Map<String, String> environment,
    Optional<Path> workingDirectory) {
  /** Start of the names of variables that are read when the process has a pod. */
  private static final String LATE = "KASTOR_";

  /** Those of them that the engine reads itself, wherever it is. */
  private static final Set<String> EARLY =
      Set.of("KASTOR_THREADS", "KASTOR_GPU_MEMORY_MIB", "KASTOR_CUDA_LIBRARIES");

  /** Variable that PyTorch reads when a script first uses a GPU. A JVM cannot set it. */
  private static final String GPUS = "CUDA_VISIBLE_DEVICES";

  private static final Pattern PYTHON = Pattern.compile("python(3(\\.\\d+)?)?");
  private static final Pattern OPTION = Pattern.compile("-[uBbdOqsSv]+");

  /** Without the present folder, where a script looks for modules only if it lies there. */
  static final String WAIT =
      "import sys; '' in sys.path[:1] and sys.path.pop(0);"
          + " import kastor.spare; exec(kastor.spare.ready())";

  /** Looks at a variable; whatever else a script does with its environment may set one. */
  private static final Pattern READS =
      Pattern.compile(
          "(?<!del os\\.)\\benviron(\\.get\\(|\\[[^\\[\\]]*\\](?!\\s*(\\||\\+)?=[^=]))");

  private static final Pattern SETS = Pattern.compile("\\benviron\\b|putenv|unsetenv|dotenv");

  SpareKind {
    line = List.copyOf(line);
    environment = Map.copyOf(environment);
  }

  /** The kind that could become a pod; empty where only a process of its own can. */
  static Optional<SpareKind> of(PodCommand pod) {
    Map<String, String> environment = new HashMap<>(pod.environment());
    environment.keySet().removeIf(name -> name.startsWith(LATE) && !EARLY.contains(name));
    Optional<Path> named =
        pod.workingDirectory().equals(pod.folder())
            ? Optional.empty()
            : Optional.of(pod.workingDirectory());
    if (pod.ofImage()) {
      return named.isEmpty() && !environment.containsKey(GPUS)
          ? Optional.of(new SpareKind(pod.namespace(), pod.line(), environment, named))
          : Optional.empty();
    }
    environment.remove(GPUS);
    int script = script(pod.line());
    if (script == 0 || setsVariables(pod.workingDirectory(), pod.line().get(script))) {
      return Optional.empty();
    }
    List<String> line = new ArrayList<>(pod.line().subList(0, script));
    line.addAll(List.of("-c", WAIT));
    return Optional.of(new SpareKind(pod.namespace(), line, environment, named));
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

  /**
   * Whether a script may set variables, which libraries read when they are imported: in a spare
   * they have been. A script that cannot be read is left to the interpreter.
   */
  private static boolean setsVariables(Path folder, String script) {
    try {
      Path file = folder.resolve(script);
      if (!Files.isRegularFile(file)) {
        return true;
      }
      String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
      return SETS.matcher(READS.matcher(text).replaceAll("")).find();
    } catch (IOException | InvalidPathException e) {
      return true;
    }
  }
}
