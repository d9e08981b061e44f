package dev.kastor.cli.replay;

import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.Installation;
import dev.kastor.local.LocalException;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.Selection;
import dev.kastor.scheduler.advice.NodeRules;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.Adversity;
import dev.kastor.simulator.event.Autoscaling;
import dev.kastor.simulator.event.LiveRescale;
import dev.kastor.simulator.event.NodeFailures;
import dev.kastor.simulator.event.ReportFaults;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.event.Stragglers;
import dev.kastor.simulator.recording.Recording;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Pace;
import dev.kastor.simulator.tick.TickSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code simulate} and {@code sweep} both let one choose about replays. */
final class ReplayOptions {
  private static final String WORKLOAD = "workloads/mixed-40.csv";
  private static final String PROFILES = "profiles/kastor.csv";

  /** Option of policies that reckon with what {@code --interruptions-per-day} does. */
  private static final String INTERRUPTIONS = "interruptionsPerDay";

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "events",
      converter = ReplayTexts.ModeName.class,
      description =
          "Whose rules of time hold: events (Kastor's), or pollux or sia, tick for tick as the"
              + " published simulators (default: ${DEFAULT-VALUE}).")
  private Mode mode = Mode.EVENTS;

  @Option(
      names = "--profiles",
      paramLabel = "PATH",
      description =
          "Applications that the workloads name: a file, or a folder with one folder each"
              + " (default: the shipped ones).")
  private @Nullable Path profiles;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "Workload; may be given several times (default: the shipped mixed-40).")
  private List<String> workloads = List.of();

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      split = ",",
      completionCandidates = KnownPolicies.Names.class,
      description =
          "Policies to compare, joined by commas: ${COMPLETION-CANDIDATES}. Options follow as"
              + " NAME:OPTION=VALUE, such as kastor:hold=1000:fairness=3 (default: all).")
  private List<String> policies = List.of();

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of all random choices (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--seeds",
      paramLabel = "K",
      defaultValue = "1",
      description = "Replay with K seeds, from --seed upwards (default: ${DEFAULT-VALUE}).")
  private int seeds = 1;

  @Option(
      names = "--round",
      paramLabel = "SECONDS",
      description = "Time between decisions (default: 60; 360 for gavel in mode sia).")
  private @Nullable Integer roundSeconds;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Replays at a time, one core each (default: 1; sweep: all cores).")
  private @Nullable Integer threads;

  @Option(
      names = "--interference",
      paramLabel = "SHARE",
      defaultValue = "0",
      description =
          "Share of its speed that a job on several nodes loses while one of them holds another"
              + " such job (default: ${DEFAULT-VALUE}).")
  private double interference;

  @Option(
      names = "--live-rescale",
      paramLabel = "SECONDS",
      description = "Pause of a running job that changes its size (mode events; default: 2).")
  private @Nullable Double liveRescaleSeconds;

  @Option(
      names = "--live-start",
      paramLabel = "SECONDS",
      description =
          "Start of replicas that a running job adds, while the others train on (mode events;"
              + " default: 0, they train at once).")
  private @Nullable Double liveStartSeconds;

  @Option(
      names = "--node-failures",
      paramLabel = "HOURS,HOURS",
      split = ",",
      description = "Mean hours between failures of a node, and until it is back (mode events).")
  private List<Double> failureHours = List.of();

  @Option(
      names = "--resize",
      paramLabel = "HOURS:[TYPE=]NODES",
      converter = ReplayTexts.ResizeText.class,
      description = "From this time on the cluster has so many nodes; repeatable (mode events).")
  private List<Resize> resizes = List.of();

  @Option(
      names = "--family-memory",
      description =
          "Let jobs begin with what earlier jobs of their application learnt (mode events; in modes"
              + " pollux and sia under policies of Kastor's own only).")
  private boolean familyMemory;

  @Option(
      names = "--autoscale",
      paramLabel = "LOW:HIGH:[TYPE=]MIN-MAX",
      converter = ReplayTexts.Rules.class,
      description =
          "Follow the advice on how many nodes keep the cluster's utility between LOW and HIGH,"
              + " such as 0.55:0.75:1-16 (mode events).")
  private @Nullable NodeRules autoscale;

  @Option(
      names = "--node-delay",
      paramLabel = "SECONDS",
      defaultValue = "180",
      description =
          "Time from an order of nodes to their arrival, with --autoscale (default:"
              + " ${DEFAULT-VALUE}).")
  private double nodeDelaySeconds = 180;

  @Option(
      names = "--interruptions-per-day",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How often each spot node is taken away in a day; policies with an option of this name"
              + " reckon with it unless they are given another (mode events; default:"
              + " ${DEFAULT-VALUE}).")
  private double interruptionsPerDay = 1;

  @Option(
      names = "--declared-work",
      paramLabel = "exact|absent|OFF|xFACTOR",
      defaultValue = "exact",
      converter = ReplayTexts.Declared.class,
      description =
          "What jobs say of their work: the truth, nothing, a total that is off by up to this"
              + " share, such as 0.5, or one that is this many times the true one, such as x1.5"
              + " (default: ${DEFAULT-VALUE}).")
  private DeclaredWork declaredWork = DeclaredWork.EXACT;

  @Option(
      names = "--timing-noise",
      paramLabel = "SHARE",
      description = "Standard deviation of reported step times (mode events; default: 0.02).")
  private @Nullable Double timingNoise;

  @Option(
      names = "--lost-reports",
      paramLabel = "SHARE",
      defaultValue = "0",
      description =
          "Share of the reports that never arrives (mode events; default: ${DEFAULT-VALUE}).")
  private double lostReports;

  @Option(
      names = "--late-reports",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "Time that a report takes (mode events; default: ${DEFAULT-VALUE}).")
  private double lateReportSeconds;

  @Option(
      names = "--stragglers",
      paramLabel = "SHARE:FACTOR",
      converter = ReplayTexts.StragglersText.class,
      description =
          "Share of the nodes, and how many times longer a step takes there, such as 0.1:2"
              + " (mode events).")
  private Stragglers stragglers = Stragglers.NONE;

  @Option(
      names = "--queues",
      paramLabel = "NAME=WEIGHT|FILE",
      defaultValue = "",
      description =
          "Weights of queues that the workload names, joined by commas, such as"
              + " research=3,night=0.5 (default: 1 each), or a YAML file of Queue objects with"
              + " quotas and budgets.")
  private String queues = "";

  @Option(names = "--quiet", description = "Show no progress.")
  private boolean quiet;

  Mode mode() {
    return mode;
  }

  Path profiles() throws LocalException {
    if (profiles != null) {
      return profiles;
    }
    return shipped().resolve(PROFILES);
  }

  boolean hasWorkload() {
    return !workloads.isEmpty();
  }

  /** Checks that nothing is asked for that a recording says itself. */
  void checkForRecording() {
    if (hasWorkload() || profiles != null || mode != Mode.EVENTS) {
      throw new CliException(
          ExitCode.USAGE,
          "--recording brings its own workload and applications and is replayed in mode events."
              + " Leave out --workload, --profiles and --mode.");
    }
  }

  /** Policies that were named, each with its options; that of a recording where none was. */
  List<Chosen<PolicyPlugin>> policies(Recording recording) {
    return policies.isEmpty() ? policies(List.of(recording.policy())) : policies();
  }

  /** Time between decisions of a replay of a recording. */
  Duration round(Chosen<PolicyPlugin> policy, Recording recording) {
    return roundSeconds == null ? recording.round() : round(policy);
  }

  List<String> workloads() throws LocalException {
    return workloads.isEmpty() ? List.of(shipped().resolve(WORKLOAD).toString()) : workloads;
  }

  /**
   * The policies that were asked for, each with its options.
   *
   * @throws IllegalArgumentException if there is no such policy or option; the message lists those
   *     that there are
   */
  List<Chosen<PolicyPlugin>> policies() {
    return policies(policies.isEmpty() ? KnownPolicies.read().names() : policies);
  }

  private List<Chosen<PolicyPlugin>> policies(List<String> texts) {
    Registry<PolicyPlugin> known = KnownPolicies.read();
    SequencedSet<Chosen<PolicyPlugin>> chosen = new LinkedHashSet<>();
    for (String text : texts) {
      Selection selection = Selection.parse(text);
      boolean reckons =
          known.get(selection.name()).options().stream()
              .anyMatch(option -> option.name().equals(INTERRUPTIONS));
      chosen.add(
          known.choose(
              reckons
                  ? selection.orElse(INTERRUPTIONS, Double.toString(interruptionsPerDay))
                  : selection));
    }
    return List.copyOf(chosen);
  }

  List<Long> seeds() {
    atLeastOne("--seeds", seeds);
    return LongStream.range(seed, seed + seeds).boxed().toList();
  }

  Duration round(Chosen<PolicyPlugin> policy) {
    if (roundSeconds == null) {
      return TickSettings.publishedRound(mode, Policies.traits(policy));
    }
    atLeastOne("--round", roundSeconds);
    return Duration.ofSeconds(roundSeconds);
  }

  boolean familyMemory() {
    return familyMemory;
  }

  private LiveRescale liveRescale() {
    LiveRescale usual = LiveRescale.USUAL;
    return new LiveRescale(
        liveRescaleSeconds == null ? usual.pause() : seconds(liveRescaleSeconds),
        liveStartSeconds == null ? usual.start() : seconds(liveStartSeconds));
  }

  Conditions conditions() {
    if (!failureHours.isEmpty() && failureHours.size() != 2) {
      throw new CliException(
          ExitCode.USAGE,
          "--node-failures needs two numbers, such as 500,2: hours between failures and to repair");
    }
    try {
      return new Conditions(
          interference,
          liveRescale(),
          failureHours.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  new NodeFailures(
                      seconds(3600 * failureHours.get(0)), seconds(3600 * failureHours.get(1)))),
          resizes.stream().sorted(Comparator.comparing(Resize::at)).toList(),
          new Adversity(
              declaredWork,
              timingNoise == null ? Adversity.USUAL.timingNoise() : timingNoise,
              new ReportFaults(lostReports, seconds(lateReportSeconds)),
              stragglers),
          Optional.ofNullable(autoscale)
              .map(rules -> new Autoscaling(rules, seconds(nodeDelaySeconds))),
          interruptionsPerDay,
          QueueFile.named(queues) ? QueueFile.read(Path.of(queues)) : Queue.parse(queues),
          Pace.USUAL);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private static Duration seconds(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  int threads(int otherwise) {
    int chosen = threads == null ? otherwise : threads;
    atLeastOne("--jobs", chosen);
    return chosen;
  }

  boolean quiet() {
    return quiet;
  }

  private static void atLeastOne(String option, int value) {
    if (value < 1) {
      throw new CliException(
          ExitCode.USAGE, "%s must be at least 1 but is %d".formatted(option, value));
    }
  }

  /** The shipped traces, by a short path where the command runs in the checkout. */
  private static Path shipped() throws LocalException {
    Path folder = Installation.current().root().resolve("traces");
    Path here = Path.of("").toAbsolutePath();
    return folder.startsWith(here) ? here.relativize(folder) : folder;
  }
}
