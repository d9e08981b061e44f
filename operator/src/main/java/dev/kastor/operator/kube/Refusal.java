package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.Serial;
import java.net.HttpURLConnection;
import java.util.Optional;

/**
 * Answer of the API server that it does not make what it was asked to make: a quota, a rule of the
 * namespace or a webhook is in the way. The same request gets the same answer until somebody
 * changes that, unlike one that a server which is away or busy did not answer.
 *
 * <p>A webhook that cannot be reached is one too, although the server tells it as an error of its
 * own: only the objects that the webhook is for are concerned.
 */
public final class Refusal extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private static final int TOO_LARGE = 413;

  /** Status of a field that is no good. */
  public static final int UNPROCESSABLE = 422;

  private Refusal(KubernetesClientException answer) {
    super(words(answer), answer);
  }

  /** What to throw for a request to make something that failed: a refusal if it was answered. */
  public static RuntimeException or(KubernetesClientException failure) {
    return is(failure) ? new Refusal(failure) : failure;
  }

  /** Whether the API server answered no. */
  public static boolean is(KubernetesClientException failure) {
    return switch (failure.getCode()) {
      case HttpURLConnection.HTTP_BAD_REQUEST,
          HttpURLConnection.HTTP_FORBIDDEN,
          HttpURLConnection.HTTP_NOT_FOUND,
          TOO_LARGE,
          UNPROCESSABLE ->
          true;
      // Nothing came back at all, so that no webhook can have spoken.
      case 0 -> false;
      // A webhook may refuse with any code.
      default -> byRule(failure);
    };
  }

  /** Whether a webhook refused or could not be asked, or an admission policy refused. */
  public static boolean byRule(KubernetesClientException failure) {
    String words = words(failure);
    return words.contains(" webhook \"") || words.contains("ValidatingAdmissionPolicy '");
  }

  /** The words of the API server. */
  public static String words(KubernetesClientException answer) {
    return Optional.ofNullable(answer.getStatus())
        .map(Status::getMessage)
        .orElseGet(() -> String.valueOf(answer.getMessage()));
  }

  /** The same of this refusal. */
  public String words() {
    return String.valueOf(getMessage());
  }
}
