package dev.kastor.scheduler.estimate;

import dev.kastor.protocol.StepProfile;

/** What step times depend on, on one GPU type. */
record ProfileKey(int nodes, int replicas, int atomicBatchSize) {
  static ProfileKey of(StepProfile profile) {
    return new ProfileKey(profile.nodes(), profile.replicas(), profile.atomicBatchSize());
  }
}
