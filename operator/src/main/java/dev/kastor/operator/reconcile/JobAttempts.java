package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.signal.Mandate;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Attempts at work for one job, whose trouble must not keep others from theirs. */
@Singleton
final class JobAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(JobAttempts.class);

  private final Mandate mandate;
  private final Metrics metrics;

  JobAttempts(Mandate mandate, Metrics metrics) {
    this.mandate = mandate;
    this.metrics = metrics;
  }

  /** Does the work; a failure is counted and logged. */
  void run(TrainingJob job, Runnable work) {
    try {
      work.run();
    } catch (Refusal | KubernetesClientException e) {
      if (!mandate.mayWrite()) {
        // Said once where the lease is renewed, not for thousands of jobs.
        return;
      }
      metrics.reconcileFailed(true);
      LOG.warn("{}: the API server refused or did not answer: {}", Labels.id(job), e.getMessage());
    } catch (RuntimeException e) {
      metrics.reconcileFailed(false);
      LOG.error("{}: housekeeping failed", Labels.id(job), e);
    }
  }
}
