package dev.kastor.e2e.watch;

import dev.kastor.crds.trainingjob.TrainingJob;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that trains has as many devices as its job's allocation says of each replica, and that
 * of a parameter server has none.
 */
final class ReplicasAreWhole implements Rule {
  @Override
  public List<Finding> broken(World world) {
    List<Finding> findings = new ArrayList<>();
    for (AgentProcess process : world.processes()) {
      TrainingJob job = world.jobs().get(process.jobUid());
      var allocation = job == null || job.getStatus() == null ? null : job.getStatus().allocation();
      // Nothing is known of the size of replicas that a job is not given any more.
      if (allocation == null || allocation.replicas() == 0) {
        continue;
      }
      boolean server = process.pod().matches(".*-[0-9]+-server[0-9]+");
      int wanted = server ? 0 : allocation.slots() / allocation.replicas();
      long devices = process.deviceList().stream().distinct().count();
      if (devices != wanted) {
        findings.add(
            new Finding(
                "a replica has all of its GPUs",
                "%s process %d".formatted(process.pod(), process.pid()),
                "devices '%s', but it is to have %d GPUs".formatted(process.devices(), wanted)));
      }
    }
    return findings;
  }
}
