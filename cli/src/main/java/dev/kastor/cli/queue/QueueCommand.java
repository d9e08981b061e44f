package dev.kastor.cli.queue;

import dev.kastor.cli.connect.ClusterOptions;
import dev.kastor.cli.terminal.OutputOptions;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kastor queue}. */
@Command(
    name = "queue",
    aliases = "queues",
    description = {
      "Lists queues: cohort, weight, jobs, GPUs held, quota, what is borrowed and lent of it, the"
          + " share that the weight deserves and the jobs obtained, and what is used of a budget.",
      "A queue deserves GPUs in proportion to its weight, no more than its jobs may have; what one"
          + " does not want goes to the others.",
      "Or changes one: set QUEUE creates it or changes what is given, hold lets no job of it start,"
          + " drain also stops those that run, resume ends both, rm removes it; move JOB QUEUE moves"
          + " a job there."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor queue",
      "  kastor queue ls -o json",
      "  kastor queue set vision --gpus 16 --cohort lab --weight 2",
      "  kastor queue set vision --budget 100/week",
      "  kastor queue hold vision",
      "  kastor queue move bert vision"
    })
public final class QueueCommand implements Runnable {
  /** Look at queues, or change of one. */
  enum Verb {
    LS(0),
    SET(1),
    HOLD(1),
    DRAIN(1),
    RESUME(1),
    RM(1),
    MOVE(2);

    private final int names;

    Verb(int names) {
      this.names = names;
    }
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup(validate = false, heading = ClusterOptions.HEADING)
  private ClusterOptions cluster = new ClusterOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  @Parameters(
      index = "0",
      paramLabel = "ls|set|hold|drain|resume|rm|move",
      arity = "0..1",
      description = "What to do (default: ls).")
  private Verb verb = Verb.LS;

  @Parameters(
      index = "1..*",
      paramLabel = "NAME",
      arity = "0..2",
      description = "Name of the queue; for move that of the job, then that of the queue.")
  private List<String> names = List.of();

  @ArgGroup(validate = false, heading = "%nWith set:%n")
  private Changed changed = new Changed();

  /** Consequence for the jobs of a queue whose budget is spent. */
  enum WhenSpent {
    STOP,
    LOWER
  }

  /** Fields of a queue that set gives, all of them optional. */
  static final class Changed {
    @Option(
        names = "--gpus",
        paramLabel = "N",
        description = "Quota: GPUs that its jobs may hold together; in a cohort, that it may lend.")
    @Nullable Integer gpus;

    @Option(
        names = "--cohort",
        paramLabel = "NAME",
        description = "Queues of one cohort use what the others of it leave unused.")
    @Nullable String cohort;

    @Option(
        names = "--weight",
        paramLabel = "W",
        description = "Queues under the same load share GPUs as their weights are.")
    @Nullable Double weight;

    @Option(
        names = "--max-priority",
        paramLabel = "P",
        description = "Highest priority that counts of its jobs.")
    @Nullable Integer maxPriority;

    @Option(
        names = "--budget",
        paramLabel = "HOURS/day|week|month|none",
        description =
            "GPU-hours that its jobs may hold in a day, week or month of UTC; none takes the budget"
                + " away.")
    @Nullable BudgetOption budget;

    @Option(
        names = "--when-spent",
        paramLabel = "stop|lower",
        description =
            "With --budget: once it is spent its jobs stop until the next period, or come after all"
                + " others (default: stop).")
    @Nullable WhenSpent whenSpent;

    boolean none() {
      return gpus == null
          && cohort == null
          && weight == null
          && maxPriority == null
          && budget == null
          && whenSpent == null;
    }
  }

  @Override
  public void run() {
    if (names.size() != verb.names) {
      throw new ParameterException(
          spec.commandLine(),
          "%s takes %s"
              .formatted(
                  verb.name().toLowerCase(Locale.ROOT),
                  switch (verb.names) {
                    case 0 -> "no name";
                    case 1 -> "the name of a queue";
                    default -> "the name of a job, then that of a queue";
                  }));
    }
    if (verb != Verb.SET && !changed.none()) {
      throw new ParameterException(
          spec.commandLine(),
          "only set takes --gpus, --cohort, --weight, --max-priority, --budget and --when-spent");
    }
    if (changed.whenSpent != null && (changed.budget == null || changed.budget.none())) {
      throw new ParameterException(
          spec.commandLine(),
          "--when-spent says what becomes of a budget. Add --budget HOURS/week");
    }
    QueueChanges changes = new QueueChanges(cluster, spec.commandLine().getOut());
    switch (verb) {
      case LS ->
          new Queues(cluster, spec.commandLine().getOut(), spec.commandLine().getErr())
              .list(output.output());
      case SET -> changes.set(names.getFirst(), changed);
      case HOLD -> changes.stop(names.getFirst(), StopPolicyKind.Hold);
      case DRAIN -> changes.stop(names.getFirst(), StopPolicyKind.HoldAndDrain);
      case RESUME -> changes.stop(names.getFirst(), StopPolicyKind.None);
      case RM -> changes.remove(names.getFirst());
      case MOVE -> changes.move(names.getFirst(), names.getLast());
    }
  }
}
