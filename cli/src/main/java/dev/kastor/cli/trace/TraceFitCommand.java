package dev.kastor.cli.trace;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Table;
import dev.kastor.traces.Application;
import dev.kastor.traces.AtomicFile;
import dev.kastor.traces.ParametricApplication;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.fit.ApplicationFit;
import dev.kastor.traces.profile.ApplicationFile;
import dev.kastor.traces.profile.Applications;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor trace fit}. */
@Command(
    name = "fit",
    description = {
      "Turns measured applications into parametric ones.",
      "These are seven throughput constants for each GPU type, a curve of the gradient noise",
      "scale, and the work. Prints how far the constants are",
      "from the measured step times."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor trace fit pollux/applications pollux.csv",
      "  kastor trace fit sia/profiles sia.csv --gpu-types t4=aws,a100=dgx-ext,rtx"
    })
final class TraceFitCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "PROFILES",
      description = "Folder with a folder of measurements for each application.")
  private Path profiles = Path.of("");

  @Parameters(index = "1", paramLabel = "OUT", description = "The CSV file to write.")
  private Path out = Path.of("");

  @Option(
      names = "--gpu-types",
      paramLabel = "[NAME=]TYPE",
      split = ",",
      description = "GPU types to fit, renamed or not (default: all that were measured).")
  private List<String> gpuTypes = List.of();

  @Option(
      names = "--applications",
      paramLabel = "NAME",
      split = ",",
      description = "Applications to fit (default: all).")
  private List<String> chosen = List.of();

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "A comment for the file, such as where the measurements are from; repeatable.")
  private List<String> notes = List.of();

  @Override
  public Integer call() throws IOException {
    Table table = new Table("application", "GPU type", "measurements", "median error", "p90 error");
    List<ParametricApplication> fitted = new ArrayList<>();
    for (Application application : applications()) {
      try {
        ApplicationFit fit = ApplicationFit.of(application, types(application));
        fitted.add(fit.application());
        fit.misfits().forEach((type, misfit) -> table.row(row(application, type, misfit)));
      } catch (IllegalArgumentException e) {
        throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
    }
    AtomicFile.write(out, ApplicationFile.text(notes, fitted));
    table.lines().forEach(spec.commandLine().getOut()::println);
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }

  private List<Application> applications() {
    Map<String, Application> all;
    try {
      all = Applications.read(profiles);
    } catch (TraceException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
    List<Application> applications = new ArrayList<>();
    for (String name : chosen.isEmpty() ? List.copyOf(all.keySet()) : chosen) {
      Application application = all.get(name);
      if (application == null) {
        throw new ParameterException(
            spec.commandLine(),
            "there is no application %s; choose from %s"
                .formatted(name, String.join(", ", all.keySet())));
      }
      applications.add(application);
    }
    return applications;
  }

  /** Measured types by the names to give them. */
  private SequencedMap<String, String> types(Application application) {
    SequencedMap<String, String> types = new LinkedHashMap<>();
    for (String pair : gpuTypes.isEmpty() ? application.gpuTypes() : gpuTypes) {
      int equals = pair.indexOf('=');
      String type = pair.substring(equals + 1);
      if (!application.gpuTypes().contains(type)) {
        throw new ParameterException(
            spec.commandLine(),
            "application %s was not measured on GPU type '%s'; it has: %s"
                .formatted(application.name(), type, String.join(", ", application.gpuTypes())));
      }
      types.put(equals < 0 ? pair : pair.substring(0, equals), type);
    }
    return types;
  }

  private static List<String> row(
      Application application, String type, ApplicationFit.Misfit misfit) {
    return List.of(
        application.name(),
        type.isEmpty() ? "-" : type,
        Integer.toString(misfit.samples()),
        percent(misfit.median()),
        percent(misfit.p90()));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }
}
