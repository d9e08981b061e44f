package dev.kastor.cli;

import dev.kastor.cli.bench.BenchCommand;
import dev.kastor.cli.bench.GpuCommand;
import dev.kastor.cli.bench.ProfileCommand;
import dev.kastor.cli.checkpoint.CheckpointsCommand;
import dev.kastor.cli.checkpoint.ExportCommand;
import dev.kastor.cli.compare.CompareRunsCommand;
import dev.kastor.cli.connect.Target;
import dev.kastor.cli.demo.DemoCommand;
import dev.kastor.cli.doctor.DoctorCommand;
import dev.kastor.cli.doctor.SupportBundleCommand;
import dev.kastor.cli.history.EventsCommand;
import dev.kastor.cli.history.HistoryCommand;
import dev.kastor.cli.job.DescribeCommand;
import dev.kastor.cli.job.GetCommand;
import dev.kastor.cli.job.LogsCommand;
import dev.kastor.cli.job.LsCommand;
import dev.kastor.cli.job.NoteCommand;
import dev.kastor.cli.job.PinCommand;
import dev.kastor.cli.job.ResumeCommand;
import dev.kastor.cli.job.RmCommand;
import dev.kastor.cli.job.ScaleCommand;
import dev.kastor.cli.job.StopCommand;
import dev.kastor.cli.job.SubmitCommand;
import dev.kastor.cli.job.SuspendCommand;
import dev.kastor.cli.job.TagCommand;
import dev.kastor.cli.job.TopCommand;
import dev.kastor.cli.local.DownCommand;
import dev.kastor.cli.local.UpCommand;
import dev.kastor.cli.metrics.MetricsCommand;
import dev.kastor.cli.paper.PaperCommand;
import dev.kastor.cli.predict.PredictCommand;
import dev.kastor.cli.queue.BudgetOption;
import dev.kastor.cli.queue.QueueCommand;
import dev.kastor.cli.recording.RecordCommand;
import dev.kastor.cli.replay.CompareCommand;
import dev.kastor.cli.replay.SimulateCommand;
import dev.kastor.cli.replay.SweepCommand;
import dev.kastor.cli.report.ReportCommand;
import dev.kastor.cli.run.CheckCommand;
import dev.kastor.cli.run.ConvertCommand;
import dev.kastor.cli.run.RunCommand;
import dev.kastor.cli.terminal.Failures;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.LogStream;
import dev.kastor.cli.terminal.Output;
import dev.kastor.cli.terminal.StandardOutput;
import dev.kastor.cli.terminal.TerminalOutput;
import dev.kastor.cli.terminal.UsageErrors;
import dev.kastor.cli.terminal.Version;
import dev.kastor.cli.trace.TraceCommand;
import dev.kastor.cli.whatif.WhatIfCommand;
import dev.kastor.cli.why.WhyCommand;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.IntSupplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;

/** The {@code kastor} command. */
@Command(
    name = "kastor",
    description = "Trains deep-learning jobs at the size and batch that make the most progress.",
    synopsisSubcommandLabel = "COMMAND",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kastor demo                          see it work: three jobs on this machine",
      "  kastor up                            run a cluster on this machine until Ctrl-C",
      "  kastor run --batch 128 -- python train.py",
      "                                       train a script on it",
      "  kastor submit job.yaml --wait        train a job of a file",
      "  kastor ls                            what runs",
      "  kastor why bert                      why it has its size, or waits",
      "  kastor doctor                        what is wrong",
      "",
      "Exit status: 0 done, 1 failed, 2 wrong arguments or a refused file, 3 no cluster",
      "answers, 4 no such job.",
      "Environment: KASTOR_HOME (state of local mode, default ~/.kastor), NO_COLOR."
    })
public final class Kastor implements Runnable {
  /** Names of the commands by what they are for, as the help shows them. */
  static final SequencedMap<String, List<String>> GROUPS = groups();

  private static final List<Class<?>> COMMANDS =
      List.of(
          DemoCommand.class,
          UpCommand.class,
          DownCommand.class,
          RunCommand.class,
          CheckCommand.class,
          ConvertCommand.class,
          SubmitCommand.class,
          LsCommand.class,
          GetCommand.class,
          DescribeCommand.class,
          WhyCommand.class,
          WhatIfCommand.class,
          HistoryCommand.class,
          MetricsCommand.class,
          CompareRunsCommand.class,
          LogsCommand.class,
          TopCommand.class,
          EventsCommand.class,
          QueueCommand.class,
          ReportCommand.class,
          DoctorCommand.class,
          SupportBundleCommand.class,
          SuspendCommand.class,
          ResumeCommand.class,
          NoteCommand.class,
          TagCommand.class,
          StopCommand.class,
          RmCommand.class,
          CheckpointsCommand.class,
          ExportCommand.class,
          PredictCommand.class,
          ScaleCommand.class,
          PinCommand.class,
          RecordCommand.class,
          SimulateCommand.class,
          SweepCommand.class,
          CompareCommand.class,
          BenchCommand.class,
          PaperCommand.class,
          ProfileCommand.class,
          GpuCommand.class,
          TraceCommand.class,
          VersionCommand.class,
          Completion.class,
          HelpCommand.class);

  @Spec private CommandSpec spec = CommandSpec.create();

  private Kastor() {}

  private static SequencedMap<String, List<String>> groups() {
    SequencedMap<String, List<String>> groups = new LinkedHashMap<>();
    groups.put("Run", List.of("demo", "up", "down", "run", "convert", "check", "submit"));
    groups.put(
        "Look",
        List.of(
            "ls",
            "top",
            "describe",
            "why",
            "whatif",
            "logs",
            "metrics",
            "history",
            "compare-runs",
            "events",
            "get"));
    groups.put("Change", List.of("scale", "pin", "stop", "suspend", "resume", "note", "tag", "rm"));
    groups.put("Use what was trained", List.of("checkpoints", "export", "predict"));
    groups.put("Operate a cluster", List.of("queue", "report", "doctor", "support-bundle"));
    groups.put(
        "Simulate and measure",
        List.of(
            "record", "simulate", "sweep", "compare", "trace", "bench", "paper", "profile", "gpu"));
    groups.put("Kastor itself", List.of("version", "completion", "help"));
    return groups;
  }

  /** Runs the command and ends this process with its exit status. */
  public static void main(String[] args) {
    System.setErr(new LogStream(System.err));
    System.exit(
        run(
            StandardOutput.writer(),
            new OutputStreamWriter(System.err, System.err.charset()),
            args));
  }

  /** Runs the command with these outputs, and says how it ended. */
  public static int run(Writer out, Writer err, String... args) {
    CommandLine line = commandLine(named(args));
    line.setOut(new TerminalOutput(out));
    line.setErr(new TerminalOutput(err));
    line.setExecutionStrategy(parsed -> written(line, () -> new RunLast().execute(parsed)));
    int code = line.execute(args);
    return written(
        line,
        () -> {
          line.getOut().flush();
          return code;
        });
  }

  /** Help is printed outside of commands, and what is left in a buffer after them. */
  private static int written(CommandLine line, IntSupplier printing) {
    try {
      return printing.getAsInt();
    } catch (UncheckedIOException e) {
      return Failures.unwritten(e.getCause(), line.getErr());
    }
  }

  /** The command with all others below it. */
  public static CommandLine commandLine() {
    return commandLine(COMMANDS);
  }

  /**
   * The commands that these arguments may be for: one, if they begin with its name. The options of
   * all others are of no use then, and to make them takes longer than {@code ls} itself.
   */
  private static List<Class<?>> named(String... args) {
    for (Class<?> command : COMMANDS) {
      // Both are about all commands.
      boolean alone = command != Completion.class && command != HelpCommand.class;
      if (alone && args.length > 0 && hasName(command.getAnnotation(Command.class), args[0])) {
        return List.of(command);
      }
    }
    return COMMANDS;
  }

  private static boolean hasName(Command command, String name) {
    return command.name().equals(name) || List.of(command.aliases()).contains(name);
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    CommandLine line = new CommandLine(new Kastor());
    commands.forEach(line::addSubcommand);
    if (System.getenv(Target.AS_KUBECTL) != null) {
      line.setCommandName("kubectl kastor");
    }
    addCommonOptions(line);
    line.getCommandSpec().mixinStandardHelpOptions(true);
    line.getCommandSpec().versionProvider(new Version());
    line.setUsageHelpAutoWidth(true);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setColorScheme(
        new Help.ColorScheme.Builder(Ink.enabled() ? Help.Ansi.ON : Help.Ansi.OFF)
            .commands(Ink.BOLD)
            .options(Ink.YELLOW)
            .parameters(Ink.YELLOW)
            .optionParams(Ink.DIM)
            .errors(Ink.RED)
            .build());
    line.setExecutionExceptionHandler(new Failures());
    line.setParameterExceptionHandler(new UsageErrors());
    line.registerConverter(Output.class, Output::of);
    line.registerConverter(BudgetOption.class, BudgetOption::of);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Kastor::grouped);
    return line;
  }

  /** The commands, each under what it is for. */
  private static String grouped(Help help) {
    StringBuilder text = new StringBuilder();
    GROUPS.forEach((purpose, names) -> {
      SequencedMap<String, Help> some = new LinkedHashMap<>();
      for (String name : names) {
        // The library knows a command by all its names: "list, ls".
        help.subcommands()
            .forEach((all, command) -> {
              if (List.of(all.split(", ")).contains(name)) {
                some.put(all, command);
              }
            });
      }
      text.append(String.format("%n%s:%n", purpose)).append(help.commandList(some));
    });
    return text.toString();
  }

  private static void addCommonOptions(CommandLine line) {
    for (CommandLine sub : Set.copyOf(line.getSubcommands().values())) {
      sub.getCommandSpec().mixinStandardHelpOptions(!(sub.getCommand() instanceof HelpCommand));
      sub.getCommandSpec().versionProvider(new Version());
      sub.getCommandSpec()
          .addOption(
              OptionSpec.builder("--verbose")
                  .type(boolean.class)
                  .description("Show stack traces of errors.")
                  .build());
      addCommonOptions(sub);
    }
  }

  @Override
  public void run() {
    spec.commandLine().usage(spec.commandLine().getOut());
  }

  /** The completion script. */
  @Command(
      name = "completion",
      description = "Prints a completion script for bash and zsh.",
      footerHeading = "%nExamples:%n",
      footer = "  source <(kastor completion)")
  static final class Completion implements Runnable {
    @Spec private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
      spec.commandLine().getOut().println(AutoComplete.bash("kastor", spec.root().commandLine()));
      spec.commandLine().getOut().flush();
    }
  }
}
