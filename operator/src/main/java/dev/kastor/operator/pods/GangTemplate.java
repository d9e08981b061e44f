package dev.kastor.operator.pods;

import dev.kastor.crds.profile.ProfileSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.OwnContainers;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;

/** Pods of a gang: those of the job's template, which know their ranks and find each other. */
public final class GangTemplate {
  private final UserTemplate user;
  private final ReportParts reports;

  public GangTemplate(OperatorConfig config) {
    user = new UserTemplate(config.slotResource());
    reports = new ReportParts(config.agent().operatorUrl());
  }

  /**
   * One pod of a start.
   *
   * @param first number of the first pod of the start
   * @param node the node that the scheduler chose
   * @throws InvalidTemplate if the template is not one of pods or asks for what a gang cannot have
   */
  public Pod pod(TrainingJob job, ProfileSpec profile, long first, int rank, int size, PodNode node)
      throws InvalidTemplate {
    Pod pod = user.pod(job, first + rank);
    pod.getMetadata().getAnnotations().put(Labels.GANG_FIRST, Long.toString(first));
    pod.getMetadata().getAnnotations().put(Labels.GANG_SIZE, Integer.toString(size));
    pod.getSpec().setHostname(GangEnvironment.hostname(job, rank));
    pod.getSpec().setSubdomain(GangService.name(job.getMetadata().getName()));
    for (Container container : pod.getSpec().getContainers()) {
      PodProfile.addMissing(container.getEnv(), GangEnvironment.of(job, rank, size));
      if (job.getSpec().restartsToRescale()) {
        PodProfile.addMissing(container.getEnv(), reports.env(job));
        container.getVolumeMounts().add(reports.mount());
      }
    }
    if (job.getSpec().restartsToRescale()) {
      pod.getSpec().getVolumes().add(reports.volume(job));
    }
    PodProfile.apply(profile, pod);
    node.choose(pod);
    OwnContainers.mark(pod);
    return pod;
  }
}
