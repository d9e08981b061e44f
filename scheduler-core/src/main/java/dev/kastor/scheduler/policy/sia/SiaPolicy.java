package dev.kastor.scheduler.policy.sia;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.solve.MultipleChoice;
import dev.kastor.scheduler.policy.solve.MultipleChoiceSolver;
import dev.kastor.scheduler.policy.support.GpuTypes;
import dev.kastor.scheduler.policy.support.Sizes;
import dev.kastor.scheduler.policy.support.TypePacking;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Sia's optimisation of goodput over GPU types (SOSP 2023, section 3): each round an integer
 * program gives each job one configuration, type and size, or nothing, and the sum over jobs of
 * {@code goodput^-0.5} is least.
 *
 * <p>Goodput is relative to the least that the job may get, and lower by the share of its life that
 * another restart would waste wherever it does not stay as it is; waiting costs {@value #WAITING}.
 * In a replay by published rules we keep what the published artifact does: it rounds costs to
 * hundredths and believes that a job's batch never exceeds the one it was submitted with.
 */
public final class SiaPolicy implements Policy {
  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "sia",
          "An integer program for the best goodput over GPU types (SOSP 2023).",
          PolicyTraits.of(Control.SIZE_AND_BATCH).withGpuTypes(),
          List.of(),
          (context, options) -> new SiaPolicy(context.published()));

  private static final double POWER = -0.5;
  private static final double WAITING = 1.1;
  private static final double MOST = 3000;
  private static final double ROUNDING = 100;

  private record Offer(JobState job, List<SiaChoices.Valued> values, MultipleChoice.Job program) {}

  private record Given(Offer offer, SiaChoices.Valued what) {}

  private final boolean faithful;
  private final MultipleChoiceSolver solver = new MultipleChoiceSolver();
  private GoodputRows rows = new GoodputRows();
  private List<Node> nodes = List.of();

  SiaPolicy(boolean published) {
    faithful = published;
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    if (!nodes.equals(snapshot.nodes())) {
      nodes = snapshot.nodes();
      rows = new GoodputRows();
    }
    SequencedMap<String, List<Node>> byType = GpuTypes.nodes(snapshot);
    Map<String, Integer> typeOfNode = new HashMap<>();
    List<TypePacking> packings = new ArrayList<>();
    byType
        .values()
        .forEach(nodes -> {
          nodes.forEach(node -> typeOfNode.put(node.name(), packings.size()));
          packings.add(new TypePacking(nodes));
        });
    SiaChoices choices = new SiaChoices(byType, faithful);
    List<Offer> offers = new ArrayList<>();
    Map<JobId, Plan.Assignment> made = new HashMap<>();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        packings.forEach(packing -> packing.take(job.allocation()));
        made.put(job.id(), assignment(job.allocation(), "Pinned", "Must keep its allocation."));
      } else {
        offers.add(offer(job, rows.of(job, choices), typeOfNode));
      }
    }
    rows.retain(snapshot.jobs());
    // Of each node only what replicas of some job can take.
    int unit =
        offers.stream()
            .flatMap(offer -> offer.values().stream())
            .mapToInt(SiaChoices.Valued::slotsPerReplica)
            .reduce(Sizes::common)
            .orElse(1);
    MultipleChoice program =
        new MultipleChoice(
            offers.stream().map(Offer::program).toList(),
            packings.stream().map(packing -> packing.free(unit)).toList());
    int[] chosen = solver.solve(program);
    List<Given> given = new ArrayList<>();
    for (int j = 0; j < chosen.length; j++) {
      if (chosen[j] >= 0) {
        Offer offer = offers.get(j);
        given.add(new Given(offer, offer.values().get(chosen[j])));
      }
    }
    given.sort(
        Comparator.comparingInt((Given one) -> one.what().slotsPerReplica())
            .thenComparingInt(one -> one.what().slots())
            .reversed());
    for (Given one : given) {
      place(one, packings.get(one.what().type()))
          .ifPresent(placed -> made.put(one.offer().job().id(), placed));
    }
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    Plan.Assignment waits =
        assignment(Allocation.NONE, "Waiting", "The GPUs bring more goodput to other jobs.");
    for (JobState job : snapshot.jobs()) {
      assignments.put(job.id(), made.getOrDefault(job.id(), waits));
    }
    return new Plan(assignments);
  }

  /**
   * Places what a job was given. Where nodes are split so that it does not fit, as it may be with
   * replicas of several slots, the job gets its next smaller size on the type that does.
   */
  private static Optional<Plan.Assignment> place(Given given, TypePacking packing) {
    List<SiaChoices.Valued> sizes = new ArrayList<>(given.offer().values());
    sizes.removeIf(
        one -> one.type() != given.what().type() || one.replicas() > given.what().replicas());
    sizes.sort(Comparator.comparingInt(SiaChoices.Valued::replicas).reversed());
    for (SiaChoices.Valued one : sizes) {
      Optional<Allocation> placed = packing.place(one.replicas(), one.slotsPerReplica());
      if (placed.isPresent()) {
        return Optional.of(started(new Given(given.offer(), one), placed.get()));
      }
    }
    return Optional.empty();
  }

  private static Plan.Assignment assignment(Allocation allocation, String code, String message) {
    return new Plan.Assignment(allocation, Reason.of(code, message));
  }

  private static Plan.Assignment started(Given one, Allocation allocation) {
    Allocation before = one.offer().job().allocation();
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("relativeGoodput", one.what().value());
    return new Plan.Assignment(
        allocation,
        before.isEmpty()
            ? new Reason("Started", "Has a configuration in the best assignment.", numbers)
            : before.replicas() == allocation.replicas()
                ? new Reason("Kept", "Its size is the best for the cluster.", numbers)
                : new Reason("Rescaled", "Another size is better for the cluster.", numbers));
  }

  private Offer offer(
      JobState job, List<SiaChoices.Valued> values, Map<String, Integer> typeOfNode) {
    SiaChoices.@Nullable Valued held = held(job, values, typeOfNode);
    double factor = held == null ? 1 : restartFactor(job);
    List<MultipleChoice.Choice> choices = new ArrayList<>();
    for (int id = 0; id < values.size(); id++) {
      SiaChoices.Valued one = values.get(id);
      double cost = Math.pow(one.equals(held) ? one.value() : factor * one.value(), POWER);
      if (faithful) {
        cost = Math.rint(cost * ROUNDING) / ROUNDING;
      }
      MultipleChoice.Choice choice =
          new MultipleChoice.Choice(id, one.type(), one.slots(), Math.min(cost, MOST) - WAITING);
      if (one.equals(held)) {
        choices.addFirst(choice); // Of equals, what it has.
      } else {
        choices.add(choice);
      }
    }
    boolean must = job.restarting() && held != null;
    return new Offer(job, values, new MultipleChoice.Job(choices, must));
  }

  private static SiaChoices.@Nullable Valued held(
      JobState job, List<SiaChoices.Valued> values, Map<String, Integer> typeOfNode) {
    if (job.allocation().isEmpty()) {
      return null;
    }
    Integer type = typeOfNode.get(job.allocation().node(0));
    for (SiaChoices.Valued one : values) {
      if (type != null && one.type() == type && one.replicas() == job.allocation().replicas()) {
        return one;
      }
    }
    return null;
  }

  /** Section 3.2: the share of its life that a job will have trained for after one more restart. */
  private static double restartFactor(JobState job) {
    double age = job.age().toNanos() * 1e-9;
    double pause = job.rescaleCost().toNanos() * 1e-9;
    boolean young =
        job.spec().elasticity() instanceof Elasticity.Rigid
            ? job.attainedService() < pause
            : age < pause;
    if (young || age + pause <= 0) {
      return 1;
    }
    return Math.max(age - job.restarts() * pause, 0) / (age + pause);
  }
}
