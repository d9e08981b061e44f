package dev.kastor.crds.trainingjob;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/** A deep-learning training job that Kastor sizes, places and keeps alive. */
@Group(TrainingJob.GROUP)
@Plural("trainingjobs")
@Version(TrainingJob.VERSION)
@ShortNames("tj")
@AdditionalPrinterColumn(
    name = "Phase",
    jsonPath = ".status.phase",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Queue",
    jsonPath = ".spec.queue",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Has",
    jsonPath = ".status.allocation.replicas",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Wants",
    jsonPath = ".spec.elastic.maxReplicas",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Goodput",
    jsonPath = ".status.training.goodput",
    type = AdditionalPrinterColumn.Type.NUMBER)
@AdditionalPrinterColumn(
    name = "Progress%",
    jsonPath = ".status.training.percent",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "ETA",
    jsonPath = ".status.remaining",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Batch",
    jsonPath = ".status.training.globalBatch",
    type = AdditionalPrinterColumn.Type.INTEGER,
    priority = 1)
@AdditionalPrinterColumn(
    name = "GPU",
    jsonPath = ".status.training.gpuType",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Nodes",
    jsonPath = ".status.allocation.nodes",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Restarts",
    jsonPath = ".status.restarts",
    type = AdditionalPrinterColumn.Type.INTEGER,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
public final class TrainingJob extends CustomResource<TrainingJobSpec, TrainingJobStatus>
    implements Namespaced {
  public static final String GROUP = "kastor.dev";
  public static final String VERSION = "v1alpha1";

  private static final long serialVersionUID = 1;
}
