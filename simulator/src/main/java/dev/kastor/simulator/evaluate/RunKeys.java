package dev.kastor.simulator.evaluate;

import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.kastor.KastorPlugin;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.sweep.Fingerprint;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Keys of replays: equal where settings, the files' content and the code are, so that a result may
 * stand for another replay of the same key. Owned by one thread.
 */
final class RunKeys {
  private final CodeVersion code;
  private final Map<Path, String> files = new HashMap<>();

  RunKeys(CodeVersion code) {
    this.code = code;
  }

  String of(Run run) throws IOException {
    boolean own = run.policy().name().equals(KastorPlugin.NAME);
    return Fingerprint.of(
        String.join(
            "\n",
            code.of(own, run.mode() == Mode.EVENTS),
            jars(run.policy().plugin()),
            run.mode().label(),
            file(run.profiles()),
            file(Path.of(run.workload())),
            run.cluster().toString(),
            run.policy().toString(),
            Long.toString(run.seed()),
            run.round().toString(),
            Double.toString(run.load()),
            run.conditions().toString(),
            Boolean.toString(run.familyMemory()),
            run.categories().toString()));
  }

  /** Of a run's lower bound, on which policy and seed have no influence. */
  String ofBound(Run run, Duration slot) throws IOException {
    return Fingerprint.of(
        String.join(
            "\n",
            "lower bound",
            code.ofBounds(),
            file(run.profiles()),
            file(Path.of(run.workload())),
            run.cluster().toString(),
            Double.toString(run.load()),
            run.categories().toString(),
            slot.toString()));
  }

  /** The content of the jars that a plug-in may use; empty for a built-in one. */
  private String jars(PolicyPlugin plugin) throws IOException {
    StringBuilder content = new StringBuilder();
    for (Path jar : Fingerprint.jars(plugin)) {
      content.append(file(jar));
    }
    return content.toString();
  }

  private String file(Path path) throws IOException {
    String known = files.get(path);
    if (known == null) {
      known = Fingerprint.of(path);
      files.put(path, known);
    }
    return known;
  }
}
