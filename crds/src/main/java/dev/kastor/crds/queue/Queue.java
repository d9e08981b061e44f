package dev.kastor.crds.queue;

import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** A queue of jobs: how many GPUs they may hold together, and what that counts against others. */
@Group(TrainingJob.GROUP)
@Plural("queues")
@Version(TrainingJob.VERSION)
@AdditionalPrinterColumn(
    name = "Cohort",
    jsonPath = ".spec.cohort",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Weight",
    jsonPath = ".spec.weight",
    type = AdditionalPrinterColumn.Type.NUMBER)
@AdditionalPrinterColumn(
    name = "Quota",
    jsonPath = ".spec.quota.gpus",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Used",
    jsonPath = ".status.gpusUsed",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Borrowed",
    jsonPath = ".status.gpusBorrowed",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Lent",
    jsonPath = ".status.gpusLent",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Running",
    jsonPath = ".status.runningJobs",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Pending",
    jsonPath = ".status.pendingJobs",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "State",
    jsonPath = ".status.conditions[?(@.type==\"Active\")].reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
public final class Queue extends CustomResource<QueueSpec, QueueStatus> {
  /** The queue of jobs that name none, where there is one of this name. */
  public static final String DEFAULT = "default";

  private static final long serialVersionUID = 1;
}
