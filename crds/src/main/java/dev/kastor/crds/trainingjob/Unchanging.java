package dev.kastor.crds.trainingjob;

/** Rules that an optional field of a spec stays as it was, absent or present. */
final class Unchanging {
  static final String PROGRAM =
      "has(self.program) == has(oldSelf.program) && (!has(self.program) || self.program == oldSelf.program)";
  static final String GOODPUT =
      "has(self.goodput) == has(oldSelf.goodput) && (!has(self.goodput) || self.goodput == oldSelf.goodput)";
  static final String TEMPLATE =
      "has(self.template) == has(oldSelf.template) && (!has(self.template) || self.template == oldSelf.template)";
  static final String TRAINING =
      "has(self.training) == has(oldSelf.training) && (!has(self.training) || self.training == oldSelf.training)";
  static final String FAMILY =
      "has(self.family) == has(oldSelf.family) && (!has(self.family) || self.family == oldSelf.family)";
  static final String PROFILE =
      "has(self.profile) == has(oldSelf.profile) && (!has(self.profile) || self.profile == oldSelf.profile)";

  static final String SLOTS_PER_REPLICA =
      "has(self.elastic.slotsPerReplica) == has(oldSelf.elastic.slotsPerReplica) && (!has(self.elastic.slotsPerReplica) || self.elastic.slotsPerReplica == oldSelf.elastic.slotsPerReplica)";

  static final String WARM_START =
      "has(self.checkpoint.warmStart) == has(oldSelf.checkpoint.warmStart) && (!has(self.checkpoint.warmStart) || self.checkpoint.warmStart == oldSelf.checkpoint.warmStart)";

  private Unchanging() {}
}
