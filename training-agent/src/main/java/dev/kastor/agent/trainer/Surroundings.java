package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.engine.checkpoint.CheckpointStore;
import java.time.Duration;
import java.util.Optional;

/**
 * What a trainer works with but does not own.
 *
 * @param job {@code namespace/name}
 * @param pod our pod's name, by which memberships list us
 * @param listener where the other replicas reach us
 * @param limits time limits of the ring
 * @param memberships what the operator wants
 * @param telemetry where reports go
 * @param checkpoints the job's checkpoints, used by nobody else in this process
 * @param cold for how long replicas that have joined others count as cold
 * @param warmStart whose parameters the job begins with; empty for fresh ones
 */
public record Surroundings(
    String job,
    String pod,
    RingListener listener,
    RingLimits limits,
    MembershipClient memberships,
    TelemetryClient telemetry,
    CheckpointStore checkpoints,
    Duration cold,
    Optional<WarmStart> warmStart) {}
