package dev.kastor.operator.kube;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.Serial;
import java.net.HttpURLConnection;

/** A request that the operator did not let out: it has certainly done nothing. */
public final class NotSent extends KubernetesClientException {
  @Serial private static final long serialVersionUID = 1;

  /** One with a reason. */
  public NotSent(String message) {
    super(message);
  }

  /** Whether a request that failed like this may have done what it asked for all the same. */
  public static boolean mayBeDone(KubernetesClientException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof NotSent) {
        return false;
      }
    }
    return unanswered(failure);
  }

  /** Whether the failure is not about what was asked for, so that it may succeed later. */
  static boolean mayBeRepeated(KubernetesClientException failure) {
    return unanswered(failure) || failure.getCode() == ApiBackoff.TOO_MANY_REQUESTS;
  }

  private static boolean unanswered(KubernetesClientException failure) {
    return failure.getCode() == 0 || failure.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR;
  }
}
