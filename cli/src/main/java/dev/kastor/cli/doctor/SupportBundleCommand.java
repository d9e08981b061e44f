package dev.kastor.cli.doctor;

import dev.kastor.cli.connect.ClusterOptions;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor support-bundle}. */
@Command(
    name = "support-bundle",
    description = {
      "Collects what somebody who helps needs into one file: jobs, pods, events, nodes, the"
          + " operator's log and metrics, ConfigMaps of Kastor, versions, and what the doctor"
          + " says.",
      "Secrets are not read. Values of environment variables and all that looks like a credential"
          + " are replaced; look through the file all the same before you send it."
    },
    footerHeading = "%nExamples:%n",
    footer = {"  kastor support-bundle", "  kastor support-bundle -o bundle.tar.gz"})
public final class SupportBundleCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.tar.gz",
      description = "File to write; kastor-support-TIME.tar.gz by default.")
  private @Nullable Path file;

  @Override
  public void run() {
    new SupportBundle(cluster, spec.commandLine().getOut()).write(file);
  }
}
