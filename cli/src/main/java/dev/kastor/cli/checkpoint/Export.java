package dev.kastor.cli.checkpoint;

import dev.kastor.cli.connect.Cluster;
import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.plugin.PluginJars;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.ResultFile;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.engine.checkpoint.CheckpointException;
import dev.kastor.engine.checkpoint.OtherCheckpoints;
import dev.kastor.engine.checkpoint.TrainedParameters;
import dev.kastor.engine.export.ExportException;
import dev.kastor.engine.export.ExportFormat;
import dev.kastor.engine.export.TrainedModel;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.train.Model;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.traces.AtomicFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Export of what a job has trained. */
final class Export {
  private final ClusterOptions cluster;
  private final PrintWriter out;

  /**
   * Job and its program, and whether the checkpoints are on this machine.
   *
   * @param program absent where the job trains a script
   */
  private record Source(
      String namespace, String name, String uid, @Nullable ProgramSpec program, boolean local) {
    Path folder() {
      return Checkpoints.root().resolve(namespace).resolve(name + "-" + uid);
    }
  }

  Export(ClusterOptions cluster, PrintWriter out) {
    this.cluster = cluster;
    this.out = out;
  }

  void run(String job, ExportCommand.Options options) {
    ExportFormat format = format(options.format(), options.out());
    Path given = options.out();
    Path file = given == null ? Path.of(job + "." + ending(format)) : given;
    ResultFile.check(file);
    Source source = source(job);
    ProgramSpec program = source.program;
    if (program == null) {
      script(source, format, file, options);
      return;
    }
    try {
      Model model = model(program);
      TrainedParameters trained = trained(source, model, options);
      TrainedModel exported = TrainedModel.of(model, trained, origin(source, program));
      AtomicFile.write(file, format.of(exported)::writeTo);
      out.println(
          "%s: step %d, %d tensors, %s"
              .formatted(
                  file,
                  trained.step(),
                  exported.tensors().size(),
                  Checkpoints.size(exported.bytes())));
      out.flush();
    } catch (ProgramException | ExportException e) {
      throw new CliException(
          ExitCode.FAILED, "job %s cannot be exported: %s".formatted(job, e.getMessage()), e);
    } catch (IOException e) {
      throw new CliException(
          ExitCode.FAILED, "%s cannot be written: %s".formatted(file, e.getMessage()), e);
    }
  }

  private static ExportFormat format(@Nullable ExportFormat asked, @Nullable Path file) {
    if (asked != null) {
      return asked;
    }
    for (ExportFormat format : ExportFormat.values()) {
      if (file != null && file.toString().endsWith("." + ending(format))) {
        return format;
      }
    }
    return ExportFormat.SAFETENSORS;
  }

  private static String ending(ExportFormat format) {
    return format.name().toLowerCase(Locale.ROOT);
  }

  private Source source(String name) {
    try (Cluster connection = Cluster.connect(cluster)) {
      String namespace = cluster.namespace();
      TrainingJob job = connection.get(namespace, name);
      return new Source(
          namespace,
          name,
          job.getMetadata().getUid(),
          job.getSpec().program(),
          cluster.target().local());
    }
  }

  private static Model model(ProgramSpec program) throws ProgramException {
    Map<String, String> parameters = program.parameters();
    return Programs.model(
        program.name(), parameters == null ? Map.of() : parameters, PluginJars.checkedFolder());
  }

  private static TrainedParameters trained(
      Source source, Model model, ExportCommand.Options options) {
    Forward forward = Forward.of(model.network(), 1);
    int parameters = forward.layout().elements();
    int statistics = forward.statisticsLayout().elements();
    Long step = options.step();
    Path checkpoint = options.checkpoint();
    try {
      if (checkpoint != null) {
        return OtherCheckpoints.of(checkpoint, source.uid, parameters, statistics);
      }
      requireLocal(source, "ckpt");
      OtherCheckpoints saved = new OtherCheckpoints(source.folder(), source.uid);
      return step == null
          ? saved.newest(parameters, statistics)
          : saved.of(step, parameters, statistics);
    } catch (CheckpointException e) {
      throw new CliException(
          ExitCode.FAILED,
          "no checkpoint of job %s can be exported: %s".formatted(source.name, e.getMessage()),
          e);
    } catch (NoSuchFileException e) {
      throw new CliException(
          ExitCode.NOT_FOUND,
          "there is no checkpoint %s. See what there is with: kastor checkpoints ls %s"
              .formatted(e.getFile(), source.name),
          e);
    } catch (IOException e) {
      throw new CliException(ExitCode.FAILED, "a checkpoint cannot be read: " + e.getMessage(), e);
    }
  }

  private static void requireLocal(Source source, String ending) {
    if (!source.local) {
      throw new CliException(
          ExitCode.USAGE,
          "the checkpoints of job %s are on the volume of its cluster (checkpoints.claim or checkpoints.hostPath of the chart), in a folder %s-%s. Copy one here and name it: kastor export %s --checkpoint step-N.%s"
              .formatted(source.name, source.name, source.uid, source.name, ending));
    }
  }

  private static SortedMap<String, String> origin(Source source, ProgramSpec program) {
    SortedMap<String, String> origin = new TreeMap<>();
    origin.put("job", source.namespace + "/" + source.name);
    origin.put("uid", source.uid);
    origin.put("program", program.name());
    return origin;
  }

  /** Exports the model of a job whose script uses the Python client. */
  private void script(
      Source source, ExportFormat format, Path file, ExportCommand.Options options) {
    if (format != ExportFormat.SAFETENSORS) {
      throw new CliException(
          ExitCode.USAGE,
          "job %s trains a script, whose model Kastor does not know: it is exported as safetensors, with the names of its state_dict"
              .formatted(source.name));
    }
    SortedMap<String, String> facts = new TreeMap<>();
    facts.put(TrainedModel.PREFIX + "job", source.namespace + "/" + source.name);
    facts.put(TrainedModel.PREFIX + "uid", source.uid);
    List<Path> saved = saved(source, options);
    for (int place = 0; place < saved.size(); place++) {
      Path checkpoint = saved.get(place);
      try {
        ScriptCheckpoint found = ScriptCheckpoint.read(checkpoint, source.uid);
        AtomicFile.write(file, stream -> found.write(facts, stream));
        out.println(
            "%s: step %d, %d tensors, %s%s"
                .formatted(
                    file,
                    found.step(),
                    found.model().size(),
                    Checkpoints.size(found.bytes()),
                    found.leftOut().isEmpty()
                        ? ""
                        : "; left out, since they are no tensors: "
                            + String.join(", ", found.leftOut())));
        out.flush();
        return;
      } catch (CheckpointException e) {
        if (place + 1 == saved.size()) {
          throw new CliException(
              ExitCode.FAILED,
              "no checkpoint of job %s can be exported: %s".formatted(source.name, e.getMessage()),
              e);
        }
        out.println("%s; the one before is taken".formatted(e.getMessage()));
      } catch (NoSuchFileException | FileNotFoundException e) {
        throw none(source);
      } catch (IOException e) {
        throw new CliException(
            ExitCode.FAILED, "%s cannot be written: %s".formatted(file, e.getMessage()), e);
      }
    }
    throw none(source);
  }

  /** The checkpoint that is asked for, or all there are, the newest first. */
  private static List<Path> saved(Source source, ExportCommand.Options options) {
    Path checkpoint = options.checkpoint();
    if (checkpoint != null) {
      return List.of(checkpoint);
    }
    requireLocal(source, "kpt");
    Long step = options.step();
    if (step != null) {
      return List.of(source.folder().resolve("step-%d.kpt".formatted(step)));
    }
    try {
      return Files.isDirectory(source.folder())
          ? CheckpointFolder.saved(source.folder()).stream()
              .map(CheckpointFolder.Saved::file)
              .toList()
          : List.of();
    } catch (IOException e) {
      throw new CliException(
          ExitCode.FAILED, "%s cannot be read: %s".formatted(source.folder(), e.getMessage()), e);
    }
  }

  private static CliException none(Source source) {
    return new CliException(
        ExitCode.NOT_FOUND,
        "there is no such checkpoint of job %s. See what there is with: kastor checkpoints ls %s"
            .formatted(source.name, source.name));
  }
}
