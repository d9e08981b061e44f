package dev.kastor.cli.local;

import dev.kastor.cli.plugin.KnownPolicies;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kastor up}. */
@Command(
    name = "up",
    description = {
      "Runs Kastor on this machine until Ctrl-C: a cluster API, the operator, the web page.",
      "Jobs submitted meanwhile run as processes. Logs and checkpoints stay in KASTOR_HOME."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor up",
      "  kastor up --slots 4 --policy fifo",
      "  kastor up --slots 8 --paced",
      "  KASTOR_HOME=/data/kastor kastor up --port 9000"
    })
public final class UpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--slots",
      paramLabel = "N",
      description = "Replicas that this machine holds (default: its GPUs, or else its cores).")
  private @Nullable Integer slots;

  @Option(
      names = "--devices",
      paramLabel = "N",
      description =
          "GPUs or cores that the slots share where there are more slots: more jobs train at once"
              + " then, and policy kastor lets a job grow only while a device has no work (default:"
              + " those of this machine, or one for each paced slot).")
  private @Nullable Integer devices;

  @Option(
      names = "--paced",
      paramLabel = "FILE",
      arity = "0..1",
      fallbackValue = "",
      description =
          "Lets passes last as long as on an accelerator, and sleeps what the computation leaves of"
              + " that: slots are as fast as each other and share no cores, as long as these"
              + " suffice. FILE has the times of programs and scripts by their names, as --profiles"
              + " of simulate has them (default: traces/profiles/paced.csv).")
  private @Nullable String paced;

  @Option(
      names = "--spares",
      paramLabel = "N",
      description =
          "Processes that wait, with their libraries loaded, for the replicas that they become: N of"
              + " each kind of program that two replicas ran, so that the next ones train sooner."
              + " Each takes 200 to 350 MB (default: half of the slots, at most 4).")
  private @Nullable Integer spares;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      defaultValue = "kastor",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Scheduling policy: ${COMPLETION-CANDIDATES}. Options follow as NAME:OPTION=VALUE, such"
              + " as kastor:hold=1000 (default: ${DEFAULT-VALUE}).")
  private String policy = "kastor";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      description = "Port of the web page; another when it is taken (default: ${DEFAULT-VALUE}).")
  private int port = 8080;

  @Override
  public Integer call() {
    int slotCount = Sizing.slots(slots);
    return new Up(spec.commandLine().getOut())
        .run(
            slotCount,
            Sizing.devices(devices, slotCount, paced != null),
            Sizing.policy(policy),
            Sizing.port(port),
            paced == null ? Optional.empty() : Optional.of(PaceFile.read(paced)),
            Sizing.spares(spares, slotCount));
  }
}
