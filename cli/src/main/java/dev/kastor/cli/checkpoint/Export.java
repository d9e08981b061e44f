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
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Export of what a job has trained. */
final class Export {
  private final ClusterOptions cluster;
  private final PrintWriter out;

  /** Job and program, and whether the checkpoints are on this machine. */
  private record Source(
      String namespace, String name, String uid, ProgramSpec program, boolean local) {}

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
    try {
      Model model = model(source);
      TrainedParameters trained = trained(source, model, options);
      TrainedModel exported = TrainedModel.of(model, trained, origin(source));
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
      ProgramSpec program = job.getSpec().program();
      if (program == null) {
        throw new CliException(
            ExitCode.USAGE,
            "job %s trains a script of its own, which knows the names of its parameters; its checkpoints are copied with: kastor checkpoints get %s"
                .formatted(name, name));
      }
      return new Source(
          namespace, name, job.getMetadata().getUid(), program, cluster.target().local());
    }
  }

  private static Model model(Source source) throws ProgramException {
    Map<String, String> parameters = source.program.parameters();
    return Programs.model(
        source.program.name(),
        parameters == null ? Map.of() : parameters,
        PluginJars.checkedFolder());
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
      if (!source.local) {
        throw new CliException(
            ExitCode.USAGE,
            "the checkpoints of job %s are on the volume of its cluster (checkpoints.claim or checkpoints.hostPath of the chart), in a folder %s-%s. Copy one here and name it: kastor export %s --checkpoint step-N.ckpt"
                .formatted(source.name, source.name, source.uid, source.name));
      }
      OtherCheckpoints saved =
          new OtherCheckpoints(
              Checkpoints.root().resolve(source.namespace).resolve(source.name + "-" + source.uid),
              source.uid);
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

  private static SortedMap<String, String> origin(Source source) {
    SortedMap<String, String> origin = new TreeMap<>();
    origin.put("job", source.namespace + "/" + source.name);
    origin.put("uid", source.uid);
    origin.put("program", source.program.name());
    return origin;
  }
}
