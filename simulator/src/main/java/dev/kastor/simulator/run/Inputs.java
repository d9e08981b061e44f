package dev.kastor.simulator.run;

import dev.kastor.simulator.recording.Recording;
import dev.kastor.simulator.recording.RecordingFile;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.traces.Application;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.Workload;
import dev.kastor.traces.format.TraceFormats;
import dev.kastor.traces.measured.SiaApplications;
import dev.kastor.traces.profile.Applications;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Workloads and applications, each file read once; owned by one thread. */
final class Inputs {
  private final Map<List<Object>, Map<String, Application>> applications = new HashMap<>();
  private final Map<List<Object>, Workload> workloads = new HashMap<>();
  private final Map<Path, Optional<Recording>> recordings = new HashMap<>();

  /** The recording at a path; empty if it is none. */
  private Optional<Recording> recording(Path path) throws TraceException {
    Optional<Recording> known = recordings.get(path);
    if (known == null) {
      known = RecordingFile.is(path) ? Optional.of(RecordingFile.read(path)) : Optional.empty();
      recordings.put(path, known);
    }
    return known;
  }

  /** The applications of a run. */
  Map<String, Application> applications(Run run) throws TraceException {
    Optional<Recording> recording = recording(run.profiles());
    List<String> types =
        run.cluster().groups().stream().map(ClusterShape.Group::gpuType).distinct().toList();
    List<Object> key =
        List.of(run.mode(), run.profiles(), recording.isPresent() ? types : List.of());
    Map<String, Application> known = applications.get(key);
    if (known == null) {
      known =
          recording.isPresent()
              ? recording.get().applications(types)
              : run.mode() == Mode.SIA && Files.isDirectory(run.profiles())
                  ? SiaApplications.read(run.profiles())
                  : Applications.read(run.profiles());
      applications.put(key, known);
    }
    return known;
  }

  /** The workload of a run, named by its path, at the load that the run asks for. */
  Workload workload(Run run) throws TraceException {
    Path path = Path.of(run.workload());
    Optional<Recording> recording =
        path.equals(run.profiles()) ? recording(path) : Optional.empty();
    List<Object> key = List.of(run.workload(), run.profiles(), run.mode());
    Workload known = workloads.get(key);
    if (known == null) {
      Set<String> names = applications(run).keySet();
      known =
          recording.isPresent()
              ? recording.get().workload(run.workload())
              : new Workload(run.workload(), TraceFormats.read(path, names).jobs());
      workloads.put(key, known);
    }
    Workload workload = known;
    Workload mixed = run.categories().map(drawn -> drawn.of(workload)).orElse(workload);
    return run.load() == 1 ? mixed : denser(mixed, run.load());
  }

  private static Workload denser(Workload workload, double load) {
    return new Workload(
        workload.name(),
        workload.jobs().stream().map(job -> job.submittedAt(job.submitSeconds() / load)).toList());
  }
}
