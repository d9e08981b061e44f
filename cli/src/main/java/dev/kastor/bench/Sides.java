package dev.kastor.bench;

import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.local.StateFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How the programs of both sides are started: the same model, as many threads, and one seed. */
public final class Sides {
  private Sides() {}

  /** Kastor's engine on the JDK that runs this process. */
  public static Contender.Starter kastor(Installation installation) throws BenchException {
    List<String> program = engine(installation, "dev.kastor.engine.bench.StepProcess");
    return (workload, threads) -> {
      List<String> command = new ArrayList<>(program);
      command.addAll(List.of(workload.model().toString(), Integer.toString(threads)));
      return StepProgram.start("Kastor", command, environment(threads));
    };
  }

  /** What starts a program of the engine on the JDK that runs this process, without arguments. */
  static List<String> engine(Installation installation, String program) throws BenchException {
    try {
      List<String> command = new ArrayList<>();
      command.add(Installation.java());
      command.addAll(installation.nativeOptions());
      command.addAll(
          List.of(
              // What parameters, gradient and momentum of the largest model need; it starts small.
              "-Xmx3g",
              "-XX:+UseSerialGC",
              "--enable-native-access=ALL-UNNAMED",
              "-Dorg.bytedeco.javacpp.cachedir=" + StateFolder.nativeLibraries(StateFolder.home()),
              "-cp",
              installation.agentClassPath(),
              program));
      return command;
    } catch (LocalException e) {
      throw new BenchException(String.valueOf(e.getMessage()));
    }
  }

  /** PyTorch under a Python that has it. */
  public static Contender.Starter pyTorch(Installation installation, Path python) {
    Path program = installation.root().resolve("bench/peer/measure.py");
    return (workload, threads) ->
        StepProgram.start(
            "PyTorch",
            List.of(
                python.toString(),
                program.toString(),
                workload.model().toString(),
                Integer.toString(threads)),
            environment(threads));
  }

  /**
   * Threads that wait sleep unless the user says otherwise: on a machine with other work spinning
   * would take from both sides.
   */
  static Map<String, String> environment(int threads) {
    return Map.of(
        "OMP_NUM_THREADS",
        Integer.toString(threads),
        "MKL_NUM_THREADS",
        Integer.toString(threads),
        "OMP_WAIT_POLICY",
        System.getenv().getOrDefault("OMP_WAIT_POLICY", "PASSIVE"));
  }
}
