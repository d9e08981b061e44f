package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kastor doctor}. */
@Command(
    name = "doctor",
    description = {
      "Checks the cluster, the installation and your rights; each line is ok, warn or fail, with"
          + " what to do.",
      "It changes nothing. The exit status is 1 if something fails."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor doctor",
      "  kastor doctor -o json | jq '.checks[] | select(.level != \"ok\")'"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Integer call() {
    return new Doctor(cluster, spec.commandLine().getOut()).run(output.output());
  }
}
