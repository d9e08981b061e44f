package dev.kastor.simulator.event;

import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.loop.FastPath;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.speed.JobSteps;
import dev.kastor.scheduler.speed.NodeSpeeds;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.DecisionTimes;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One replay from event to event, through the production loop and estimator.
 *
 * <p>The policy decides when a job arrives, ends or first reports from a new allocation, when nodes
 * come or go, and at least once a round. Used once, by one thread; a function of its inputs and
 * seed. Work for an event grows with the jobs in the system, never with those of the workload.
 */
public final class EventSimulation implements Cluster {
  /** Events in a row at which no job holds anything, after which none is expected to start. */
  private static final int MOST_IDLE = 100;

  private final EventSettings settings;
  private final String workload;
  private final long seed;
  private final ReplayListener listener;
  private final String name;
  private final DecisionTimes.Timed policy;
  private final SchedulingLoop loop;
  private final VirtualClock clock = new VirtualClock();
  private final Agenda agenda = new Agenda();
  private final NodeLedger nodes;
  private final NodeSpeeds speeds = new NodeSpeeds();
  private final Breakdowns breakdowns;
  private final @Nullable Scaler scaler;

  /** Planned ones, then those that were ordered on the way. */
  private final List<Resize> resizes;

  private final List<EventJob> jobs = new ArrayList<>();
  private final Map<JobId, EventJob> jobsById = new HashMap<>();
  private final ClusterState state = new ClusterState();
  private final Samples samples = new Samples();
  private final Spending spending;
  private final BudgetAccount budgets;
  private final int planned;
  private final List<EventJob> active = new ArrayList<>();
  private int done;
  private boolean begun;
  private double lastDecision = Double.NEGATIVE_INFINITY;
  private double nextDecision = Double.POSITIVE_INFINITY;

  /**
   * A replay of {@code workload} whose jobs learn alone.
   *
   * @throws IllegalArgumentException if an application is missing, or a job can never run on the
   *     cluster
   */
  public EventSimulation(
      EventSettings settings,
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      PolicyFactory policy,
      long seed,
      ReplayListener listener) {
    this(settings, cluster, workload, applications, policy, Optional.empty(), seed, listener);
  }

  /**
   * A replay of {@code workload}.
   *
   * @param policies makes a fresh policy: one for rounds, one for new jobs between two rounds
   * @param memory what families remember and jobs add to; empty where jobs learn alone
   * @throws IllegalArgumentException if an application is missing, or a job can never run on the
   *     cluster
   */
  public EventSimulation(
      EventSettings settings,
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      PolicyFactory policies,
      Optional<FamilyMemory> memory,
      long seed,
      ReplayListener listener) {
    this.settings = settings;
    this.workload = workload.name();
    this.seed = seed;
    this.listener = listener;
    name = policies.name();
    budgets = new BudgetAccount(settings.queues());
    policy = new DecisionTimes.Timed(policies.create());
    loop = new SchedulingLoop(this, policy, policies.create());
    ClusterShape largest = Largest.of(cluster, settings.resizes(), settings.autoscaling());
    scaler = settings.autoscaling().map(follows -> new Scaler(follows, cluster)).orElse(null);
    resizes = new ArrayList<>(settings.resizes());
    planned = resizes.size();
    spending = new Spending(workload.jobs().size());
    nodes = new NodeLedger(cluster, largest, settings.adversity().stragglers(), seed);
    SplittableRandom random = new SplittableRandom(seed);
    breakdowns =
        new Breakdowns(
            nodes.preemptible().stream().map(settings::failures).toList(), random.split());
    DeclaredWork.Factors declared = settings.adversity().declaredWork().factors(seed);
    IdentityHashMap<Application, Courses> courses = new IdentityHashMap<>();
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      double factor = declared.next();
      JobSpec spec =
          declaring(
              factor,
              EventSpecs.of(job, application, policies.traits().control(), largest),
              application);
      EventSettings costs = costs(application);
      EventJob added =
          new EventJob(
              jobs.size(),
              spec,
              job.name(),
              job.submitSeconds(),
              courses.computeIfAbsent(application, Courses::new),
              clock,
              costs,
              new Reporter(
                  costs,
                  spec,
                  knowledge(spec, policies.traits(), memory),
                  stepsByNode(spec, memory),
                  factor,
                  random.split(),
                  listener));
      jobs.add(added);
      jobsById.put(spec.id(), added);
    }
  }

  /**
   * A replay that goes on from what a live cluster is at {@code now}, and to which nobody else
   * comes: {@link #runOn} makes it.
   *
   * @param settings rules of time; costs of changes are those of each job
   * @param nodes its nodes, which stay
   * @param live its jobs in submission order; what they hold fits the nodes
   * @param policies makes a fresh policy: one for rounds, one for new jobs between two rounds
   */
  public EventSimulation(
      EventSettings settings,
      Instant now,
      List<Node> nodes,
      List<LiveStart> live,
      PolicyFactory policies,
      long seed,
      ReplayListener listener) {
    this.settings = settings;
    this.workload = "live";
    this.seed = seed;
    this.listener = listener;
    name = policies.name();
    budgets = new BudgetAccount(settings.queues());
    policy = new DecisionTimes.Timed(policies.create());
    loop = new SchedulingLoop(this, policy, policies.create());
    scaler = null;
    resizes = new ArrayList<>();
    planned = 0;
    spending = new Spending(live.size());
    this.nodes = new NodeLedger(nodes);
    SplittableRandom random = new SplittableRandom(seed);
    breakdowns = new Breakdowns(List.of(), random.split());
    clock.begin(Duration.between(Instant.EPOCH, now).toNanos() * 1e-9);
    for (LiveStart start : live) {
      JobState state = start.job().state();
      EventSettings costs = costs(start.rescalePause(), state.restartCost());
      EventJob job =
          new EventJob(
              jobs.size(),
              start,
              new Courses(start.truth()),
              clock,
              costs,
              new Reporter(
                  costs,
                  state.spec(),
                  new LiveKnowledge(state, start.model(), start.rescalePause()),
                  null,
                  start.tellsTotal() ? 1 : 0,
                  random.split(),
                  listener));
      jobs.add(job);
      jobsById.put(state.id(), job);
      job.resume(
          start, this.nodes.gpuType(state.allocation()), this.nodes.pace(state.allocation()));
    }
  }

  /** The job as it says how much work it has; one that was recorded may not have said it. */
  private static JobSpec declaring(double factor, JobSpec spec, Application application) {
    boolean says = !(application instanceof SpecifiedApplication) || spec.declaredSteps() > 0;
    return says ? spec.declaring(factor * application.progressAt(application.epochs())) : spec;
  }

  private EventSettings costs(Application application) {
    return application instanceof SpecifiedApplication own
        ? costs(own.rescalePause(), VirtualClock.duration(own.restartSeconds()))
        : settings;
  }

  /** Changes of a job that ran on a cluster take what they took there. */
  private EventSettings costs(Duration rescalePause, Duration restart) {
    return settings.withLiveRescale(new LiveRescale(rescalePause, restart));
  }

  /** Jobs are compared with their family where families are remembered. */
  private JobSteps stepsByNode(JobSpec spec, Optional<FamilyMemory> memory) {
    String family = memory.isPresent() ? spec.family() : "";
    return new JobSteps(speeds, spec.id().namespace(), family, spec.id().toString());
  }

  private static @Nullable Knowledge knowledge(
      JobSpec spec, PolicyTraits policy, Optional<FamilyMemory> memory) {
    return policy.control() == Control.PLACEMENT
        ? null
        : Knowledge.of(
            new Learner(
                spec,
                new GoodputEstimator(spec, GoodputEstimator.Merging.NEWEST, policy.learning()),
                memory));
  }

  /**
   * Replays a live cluster until each job has ended, none can get on, or it is {@code until}.
   *
   * @return when each job ends; empty for those that do not by then
   */
  public SequencedMap<JobId, Optional<Instant>> runOn(Instant until) {
    double limit = Duration.between(Instant.EPOCH, until).toNanos() * 1e-9;
    double reopens = Duration.between(Instant.EPOCH, settings.lastReopening()).toNanos() * 1e-9;
    begun = true;
    for (EventJob job : jobs) {
      active.add(job);
      state.arrived();
      nodes.add(job);
      state.took(job);
      notePlans(job);
    }
    wantDecision();
    int idle = 0;
    while (done < jobs.size() && idle < MOST_IDLE) {
      Agenda.Event event = agenda.next();
      if (event == null || event.seconds() > limit) {
        break;
      }
      happen(event);
      // Nothing runs for long where all wait for a queue that opens by itself.
      idle = state.runningJobs() > 0 || event.seconds() <= reopens ? 0 : idle + 1;
    }
    SequencedMap<JobId, Optional<Instant>> ends = new LinkedHashMap<>();
    jobs.forEach(job ->
        ends.put(
            job.spec().id(),
            job.finished()
                ? Optional.of(VirtualClock.instant(job.finishSeconds()))
                : Optional.empty()));
    return ends;
  }

  /** Replays to the end of the last job. */
  public Replay run() {
    long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    double limit = VirtualClock.seconds(settings.limit());
    jobs.forEach(job ->
        agenda.note(job.submitSeconds(), Agenda.Kind.JOB_ARRIVES, job.index(), job.version()));
    breakdowns.begin(agenda);
    for (int i = 0; i < resizes.size(); i++) {
      agenda.note(VirtualClock.seconds(resizes.get(i).at()), Agenda.Kind.RESIZE, i, 0);
    }
    noteScaling();
    while (done < jobs.size()) {
      Agenda.Event event = agenda.next();
      if (event == null || event.seconds() > limit) {
        throw new IllegalStateException(
            "policy %s left %d of %d jobs of %s unfinished after %s of virtual time"
                .formatted(name, jobs.size() - done, jobs.size(), workload, settings.limit()));
      }
      happen(event);
    }
    double cpuSeconds =
        (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu) * 1e-9;
    return new Replay(
        name,
        workload,
        Mode.EVENTS,
        seed,
        jobs.stream().map(job -> job.completed().withMoney(spending.ofJob(job.index()))).toList(),
        cpuSeconds,
        policy.times(),
        samples.kept(),
        spending.onNodes());
  }

  private void happen(Agenda.Event event) {
    switch (event.kind()) {
      case RESIZE -> {
        clock.set(event.seconds());
        Resize resize = resizes.get(event.subject());
        if (scaler != null) {
          scaler.arrived();
        }
        boolean ordered = event.subject() >= planned;
        List<EventJob> homeless =
            ordered
                ? nodes.scale(resize.gpuType(), resize.nodes())
                : nodes.resize(resize.gpuType(), resize.nodes());
        payNodes();
        for (EventJob job : homeless) {
          // Announced: the job leaves with all that it has trained.
          change(job, Allocation.NONE);
        }
        wantDecision();
      }
      case NODE_FAILS -> {
        clock.set(event.seconds());
        List<EventJob> hit = nodes.setUp(event.subject(), false);
        payNodes();
        for (EventJob job : hit) {
          release(job);
          job.fail();
          listener.allocated(job.spec().id(), Allocation.NONE, VirtualClock.instant(clock.now()));
        }
        breakdowns.failed(event, agenda);
        wantDecision();
      }
      case NODE_RETURNS -> {
        clock.set(event.seconds());
        nodes.setUp(event.subject(), true);
        payNodes();
        breakdowns.returned(event, agenda);
        wantDecision();
      }
      case JOB_ARRIVES -> {
        clock.set(event.seconds());
        EventJob job = jobs.get(event.subject());
        active.add(job);
        begun = true;
        payNodes();
        state.arrived();
        if (!placedAlone(job)) {
          wantDecision();
        }
      }
      case REPLICAS_JOIN -> {
        EventJob job = jobs.get(event.subject());
        if (event.version() == job.version()) {
          clock.set(event.seconds());
          job.join();
          notePlans(job);
        }
      }
      case JOB_ENDS -> {
        EventJob job = jobs.get(event.subject());
        if (event.version() == job.version()) {
          clock.set(event.seconds());
          release(job);
          job.finish();
          listener.allocated(job.spec().id(), Allocation.NONE, VirtualClock.instant(clock.now()));
          state.left();
          done++;
          payNodes();
          wantDecision();
        }
      }
      case JOB_REPORTS -> {
        EventJob job = jobs.get(event.subject());
        if (event.version() == job.version()) {
          clock.set(event.seconds());
          boolean sent = job.report();
          double late = VirtualClock.seconds(settings.adversity().reports().late());
          if (sent && late > 0) {
            agenda.note(clock.now() + late, Agenda.Kind.REPORT_ARRIVES, job.index(), 0);
          } else if (sent) {
            hear(job);
          }
          if (job.version() == event.version()) {
            noteReport(job);
          }
        }
      }
      case REPORT_ARRIVES -> {
        EventJob job = jobs.get(event.subject());
        if (!job.finished()) {
          clock.set(event.seconds());
          hear(job);
        }
      }
      case SCALING -> {
        clock.set(event.seconds());
        scale();
        noteScaling();
      }
      case DECISION -> {
        if (event.seconds() == nextDecision) {
          clock.set(event.seconds());
          decide();
        }
      }
    }
  }

  /** Whether the new job was given slots without a round over all jobs. */
  private boolean placedAlone(EventJob job) {
    FastPath fastPath = loop.fastPath();
    Instant now = VirtualClock.instant(clock.now());
    Snapshot alone = snapshot(List.of(job.state()));
    listener.observed(alone);
    Optional<Round> placed =
        fastPath.tryPlace(now, alone.jobs(), (id, node) -> nodes.availableNames().contains(node));
    placed.ifPresent(round -> {
      apply(round.changes());
      fastPath.confirmVisible(round, now);
    });
    return placed.isPresent();
  }

  /** Nodes cost money from the first arrival on. */
  private void payNodes() {
    if (begun) {
      spending.nodes(nodes.moneyPerHour(), clock.now());
    }
  }

  private void noteScaling() {
    if (scaler != null) {
      agenda.note(clock.now() + VirtualClock.seconds(Scaler.INTERVAL), Agenda.Kind.SCALING, 0, 0);
    }
  }

  private void scale() {
    if (scaler != null && !scaler.waits()) {
      for (Resize order : scaler.orders(observe(), nodes::present)) {
        resizes.add(order);
        agenda.note(
            Math.max(clock.now(), VirtualClock.seconds(order.at())),
            Agenda.Kind.RESIZE,
            resizes.size() - 1,
            0);
      }
    }
  }

  private void hear(EventJob job) {
    long version = job.version();
    if (job.heard()) {
      wantDecision();
    }
    if (job.version() != version) {
      notePlans(job);
    }
  }

  /** The next decision comes as soon as the interval allows. */
  private void wantDecision() {
    decideAt(
        Math.max(clock.now(), lastDecision + VirtualClock.seconds(settings.decisionInterval())));
  }

  /** A budget that will be spent, and the next period of one that is, bring a decision. */
  private void noteBudgets() {
    decideAt(
        Math.max(
            budgets.next(clock.now()),
            lastDecision + VirtualClock.seconds(settings.decisionInterval())));
  }

  private void decideAt(double seconds) {
    if (seconds < nextDecision) {
      nextDecision = seconds;
      agenda.note(seconds, Agenda.Kind.DECISION, 0, 0);
    }
  }

  private void decide() {
    lastDecision = clock.now();
    nextDecision = Double.POSITIVE_INFINITY;
    if (state.activeJobs() > 0) {
      Round decided = loop.tick();
      if (!decided.violations().isEmpty()) {
        throw new IllegalStateException(
            "policy %s broke a rule at %.0f s: %s"
                .formatted(name, clock.now(), decided.violations().getFirst().message()));
      }
      noteBudgets();
      samples.offer(() -> state.sample(clock.now(), nodes.availableSlots(), meanEfficiency()));
      decideAt(clock.now() + settings.roundSeconds(clock));
      decideAt(settings.nextReopening(clock));
    }
    listener.at(clock.now(), done, jobs.size());
  }

  private double meanEfficiency() {
    return active.stream()
        .filter(job -> !job.allocation().isEmpty())
        .mapToDouble(EventJob::efficiency)
        .average()
        .orElse(Double.NaN);
  }

  @Override
  public Snapshot observe() {
    if (active.size() > state.activeJobs()) {
      active.removeIf(EventJob::finished);
    }
    List<JobState> states = new ArrayList<>(active.size());
    for (EventJob job : active) {
      states.add(job.state());
    }
    var _ = speeds.age(nodes.names(), VirtualClock.instant(clock.now()));
    Snapshot snapshot = snapshot(states);
    listener.observed(snapshot);
    return snapshot;
  }

  private Snapshot snapshot(List<JobState> states) {
    Instant now = VirtualClock.instant(clock.now());
    return new Snapshot(
        now,
        speeds.told(nodes.available(), this::taken),
        budgets.counted(states, clock.now()),
        budgets.queues(settings.queuesAt(now), clock.now()));
  }

  /** Slots that jobs hold, by node. */
  private Map<String, Integer> taken() {
    Map<String, Integer> taken = new HashMap<>();
    for (EventJob job : active) {
      job.allocation()
          .slotsByNode()
          .forEach((node, slots) -> taken.merge(node, slots, Integer::sum));
    }
    return taken;
  }

  @Override
  public void apply(List<Change> changes) {
    List<EventJob> moving = new ArrayList<>();
    List<Allocation> targets = new ArrayList<>();
    for (Change change : changes) {
      EventJob job = jobsById.get(change.job());
      if (job == null) {
        throw new IllegalStateException("change for unknown job " + change.job());
      }
      moving.add(job);
      targets.add(change.to());
    }
    // All slots are freed before any is taken: the plan was checked as a whole.
    moving.forEach(this::release);
    for (int i = 0; i < moving.size(); i++) {
      occupy(moving.get(i), targets.get(i));
    }
  }

  private void change(EventJob job, Allocation to) {
    release(job);
    occupy(job, to);
  }

  private void release(EventJob job) {
    List<EventJob> neighbours = neighbours(job);
    budgets.holds(job.spec().queue(), -job.allocation().slots(), clock.now());
    nodes.remove(job);
    state.frees(job);
    spending.job(job.index(), 0, clock.now());
    neighbours.remove(job);
    disturb(neighbours);
  }

  private void occupy(EventJob job, Allocation to) {
    job.reallocate(to, nodes.gpuType(to), nodes.pace(to));
    listener.allocated(job.spec().id(), to, VirtualClock.instant(clock.now()));
    nodes.add(job);
    state.took(job);
    spending.job(job.index(), nodes.moneyPerHour(to), clock.now());
    budgets.holds(job.spec().queue(), to.slots(), clock.now());
    noteBudgets();
    notePlans(job);
    disturb(neighbours(job));
  }

  /** Whose speed may change with this job's coming or going; none unless jobs interfere. */
  private List<EventJob> neighbours(EventJob job) {
    return settings.interference() > 0 && job.allocation().nodes() > 1
        ? nodes.neighbours(job.allocation())
        : new ArrayList<>();
  }

  private void disturb(List<EventJob> some) {
    SequencedSet<EventJob> once = new LinkedHashSet<>(some);
    for (EventJob job : once) {
      double share = nodes.disturbed(job.allocation()) ? 1 - settings.interference() : 1;
      if (job.setRate(share)) {
        notePlans(job);
      }
    }
  }

  /** Notes what the job will do next if nothing changes; earlier notes are void. */
  private void notePlans(EventJob job) {
    if (!job.allocation().isEmpty()) {
      agenda.note(job.expectedFinish(), Agenda.Kind.JOB_ENDS, job.index(), job.version());
      if (job.joinsAt() < Double.POSITIVE_INFINITY) {
        agenda.note(job.joinsAt(), Agenda.Kind.REPLICAS_JOIN, job.index(), job.version());
      }
      noteReport(job);
    }
  }

  private void noteReport(EventJob job) {
    if (job.reports()) {
      agenda.note(job.nextReport(), Agenda.Kind.JOB_REPORTS, job.index(), job.version());
    }
  }
}
