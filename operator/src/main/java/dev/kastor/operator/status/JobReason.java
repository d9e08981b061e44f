package dev.kastor.operator.status;

/**
 * The reasons of conditions that the operator itself gives; those of its policies come with their
 * decisions. {@code docs/conditions.md} says of each what to do.
 */
public enum JobReason {
  // Queued
  WaitingForSlots,
  QueueNotFound,
  QueueNotAllowed,
  NotWaiting,
  PodUnschedulable,
  ProfileNotFound,
  ProfileNotAllowed,
  NoSuitableNodes,
  PodsRefused,
  NamespaceQuotaFull,
  InvalidTemplate,
  NotChecked,
  SecretNameTaken,
  ServiceNameTaken,
  StartFailed,
  // Admitted
  SlotsGiven,
  NoSlots,
  // Running
  Training,
  WaitingForReplicas,
  NotTraining,
  // Rescaling
  MembersChange,
  AtTargetSize,
  // Stalled
  NoProgress,
  StepsAreMade,
  // PriorityLimited
  AboveMaxPriority,
  BudgetSpent,
  WithinMaxPriority,
  // Unconfirmed
  ClaimsDiffer,
  ClaimsHold,
  // Unsaved
  CheckpointFailed,
  CheckpointSaved,
  // PodsRefused, beside the reason of that name above
  PodsTaken,
  // Suspended
  SuspendedByUser,
  HeldForKueue,
  Suspending,
  NotAsked,
  // Complete
  WorkDone,
  PodsSucceeded,
  WorkLeft,
  // Failed
  InvalidSpec,
  ProgramFailed,
  TooManyFailures,
  ActiveDeadlineExceeded,
  QueueDeadlineExceeded,
  StartDeadlineExceeded,
  PodsCannotStart,
  NoFailure;

  /** Whether the operator itself gives this reason. */
  static boolean own(String reason) {
    for (JobReason own : values()) {
      if (own.name().equals(reason)) {
        return true;
      }
    }
    return false;
  }
}
