package dev.kastor.operator.status;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.Lean;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.text.PrintableText;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Derives the typed conditions of a job, keeping the time of the last change of each. */
public final class JobConditions {
  /** The types of conditions, in the order in which they are listed. */
  public enum Type {
    Queued,
    Admitted,
    Running,
    Rescaling,
    Stalled,
    PriorityLimited,
    Unconfirmed,
    Unsaved,
    PodsRefused,
    Suspended,
    Complete,
    Failed
  }

  /**
   * What the conditions are derived from.
   *
   * @param phase where the job is
   * @param reason one word that says why
   * @param message one sentence that says why
   * @param target replicas that the scheduler gave
   * @param members replicas that train together
   * @param draining pods that still have to go
   * @param stalled what a person should know of a job that makes no steps; null if it makes some
   * @param limited why its priority counts less than it asks for; null if it does not
   * @param unconfirmed what a person should know of a job whose claims its progress does not bear
   *     out; null if it does
   * @param unsaved what a person should know of a job whose checkpoints cannot be saved; null if
   *     they can
   */
  public record Facts(
      Phase phase,
      String reason,
      String message,
      int target,
      int members,
      int draining,
      @Nullable String stalled,
      @Nullable Reason limited,
      @Nullable String unconfirmed,
      @Nullable String unsaved,
      @Nullable String refused) {
    /** A job that gets on. */
    public Facts(
        Phase phase, String reason, String message, int target, int members, int draining) {
      this(phase, reason, message, target, members, draining, null, null, null, null, null);
    }
  }

  /** Types that few jobs ever have: the status of all others stays as small as it is. */
  private static final Set<Type> RARE =
      EnumSet.of(Type.PriorityLimited, Type.Unconfirmed, Type.Unsaved, Type.PodsRefused);

  private JobConditions() {}

  /** All conditions, given those of before. */
  public static List<Condition> derive(
      Facts facts, List<Condition> before, @Nullable Long observedGeneration, Instant now) {
    List<Condition> conditions = new ArrayList<>();
    for (Type type : Type.values()) {
      boolean holds = holds(type, facts);
      if (RARE.contains(type) && !holds && !has(before, type)) {
        continue;
      }
      conditions.add(
          condition(
              type, holds, reason(type, holds, facts), facts, before, observedGeneration, now));
    }
    return conditions;
  }

  private static boolean has(List<Condition> conditions, Type type) {
    return conditions.stream().anyMatch(condition -> type.name().equals(condition.getType()));
  }

  private static boolean holds(Type type, Facts facts) {
    Phase phase = facts.phase();
    return switch (type) {
      case Queued -> phase == Phase.Queued;
      case Admitted -> facts.target() > 0;
      case Running -> phase == Phase.Running;
      case Rescaling ->
          phase == Phase.Running && (facts.target() != facts.members() || facts.draining() > 0);
      case Stalled -> facts.stalled() != null;
      case PriorityLimited -> facts.limited() != null;
      case Unconfirmed -> facts.unconfirmed() != null;
      case Unsaved -> facts.unsaved() != null;
      case PodsRefused -> facts.refused() != null;
      case Suspended -> phase == Phase.Suspended;
      case Complete -> phase == Phase.Succeeded;
      case Failed -> phase == Phase.Failed;
    };
  }

  private static String reason(Type type, boolean holds, Facts facts) {
    boolean decides =
        switch (type) {
          case Queued -> facts.phase() == Phase.Queued;
          case Admitted -> false;
          case Running -> facts.phase() == Phase.Running || facts.phase() == Phase.Starting;
          case Rescaling, Stalled, PriorityLimited, Unconfirmed, Unsaved, PodsRefused -> false;
          case Suspended -> facts.phase() == Phase.Suspended;
          case Complete -> facts.phase() == Phase.Succeeded;
          case Failed -> facts.phase() == Phase.Failed;
        };
    if (decides) {
      return facts.reason();
    }
    if (type == Type.PriorityLimited && facts.limited() != null) {
      return facts.limited().code();
    }
    JobReason own =
        switch (type) {
          case Queued -> JobReason.NotWaiting;
          case Admitted -> holds ? JobReason.SlotsGiven : JobReason.NoSlots;
          case Running -> JobReason.NotTraining;
          case Rescaling -> holds ? JobReason.MembersChange : JobReason.AtTargetSize;
          case Stalled -> holds ? JobReason.NoProgress : JobReason.StepsAreMade;
          case PriorityLimited -> JobReason.WithinMaxPriority;
          case Unconfirmed -> holds ? JobReason.ClaimsDiffer : JobReason.ClaimsHold;
          case Unsaved -> holds ? JobReason.CheckpointFailed : JobReason.CheckpointSaved;
          case PodsRefused -> holds ? JobReason.PodsRefused : JobReason.PodsTaken;
          case Suspended -> JobReason.NotAsked;
          case Complete -> JobReason.WorkLeft;
          case Failed -> JobReason.NoFailure;
        };
    return own.name();
  }

  private static Condition condition(
      Type type,
      boolean holds,
      String reason,
      Facts facts,
      List<Condition> before,
      @Nullable Long observedGeneration,
      Instant now) {
    String status = holds ? "True" : "False";
    String since = now.truncatedTo(ChronoUnit.SECONDS).toString();
    String message = reason.equals(facts.reason()) ? facts.message() : "";
    String own =
        switch (type) {
          case Stalled -> facts.stalled();
          case PriorityLimited -> facts.limited() == null ? null : facts.limited().message();
          case Unconfirmed -> facts.unconfirmed();
          case Unsaved -> facts.unsaved();
          case PodsRefused -> facts.refused();
          case Queued, Admitted, Running, Rescaling, Suspended, Complete, Failed -> null;
        };
    message = own == null ? message : own;
    for (Condition old : before) {
      if (type.name().equals(old.getType()) && status.equals(old.getStatus())) {
        since =
            StoredTime.of(old.getLastTransitionTime()).isPresent()
                ? old.getLastTransitionTime()
                : since;
        // What a policy says of a wait changes with every round: no reason for a write for each
        // job.
        message =
            type == Type.Queued && holds && reason.equals(old.getReason()) && !JobReason.own(reason)
                ? old.getMessage()
                : message;
      }
    }
    return Lean.condition(
        new Condition(
            since, PrintableText.line(message), observedGeneration, reason, status, type.name()));
  }
}
