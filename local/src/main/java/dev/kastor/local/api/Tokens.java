package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * The bearer tokens of the server: one for the administrator, and those that the kubelet asks for
 * on behalf of pods, each bound to a pod and an audience.
 */
public final class Tokens {
  private static final int TOKEN_BYTES = 32;

  private final SecureRandom random = new SecureRandom();
  private final Map<String, PodIdentity> pods = new ConcurrentHashMap<>();
  private final String admin = newToken();

  Tokens() {}

  /** The administrator's token. */
  public String admin() {
    return admin;
  }

  /** A new token for a pod. */
  public String issue(PodIdentity identity) {
    String token = newToken();
    pods.put(token, identity);
    return token;
  }

  /** Makes the tokens of a pod worthless. */
  public void revoke(String podUid) {
    pods.values().removeIf(p -> p.podUid().equals(podUid));
  }

  boolean isAdmin(String token) {
    return MessageDigest.isEqual(
        admin.getBytes(StandardCharsets.US_ASCII), token.getBytes(StandardCharsets.UTF_8));
  }

  boolean isPod(String token) {
    return pods.containsKey(token);
  }

  /** Answers a {@code TokenReview}. */
  ObjectNode review(ObjectNode review) {
    ObjectNode answer = review.deepCopy();
    ObjectNode status = answer.putObject("status");
    List<String> asked =
        StreamSupport.stream(review.at("/spec/audiences").spliterator(), false)
            .map(JsonNode::asText)
            .toList();
    PodIdentity identity = pods.get(review.at("/spec/token").asText());
    String refusal = refusal(identity, asked);
    if (refusal != null || identity == null) {
      status.put("authenticated", false).put("error", refusal);
      return answer;
    }
    status.put("authenticated", true);
    status.putArray("audiences").add(identity.audience());
    ObjectNode user = status.putObject("user");
    String account = identity.namespace() + ":" + identity.serviceAccount();
    user.put("username", "system:serviceaccount:" + account);
    user.putArray("groups")
        .add("system:serviceaccounts")
        .add("system:serviceaccounts:" + identity.namespace())
        .add("system:authenticated");
    ObjectNode extra = user.putObject("extra");
    extra.putArray("authentication.kubernetes.io/pod-name").add(identity.podName());
    extra.putArray("authentication.kubernetes.io/pod-uid").add(identity.podUid());
    return answer;
  }

  private static @Nullable String refusal(@Nullable PodIdentity identity, List<String> asked) {
    if (identity == null) {
      return "invalid bearer token";
    }
    boolean meant =
        asked.isEmpty() ? identity.audience().isEmpty() : asked.contains(identity.audience());
    return meant
        ? null
        : "token audiences [\"%s\"] is invalid for the target audiences %s"
            .formatted(identity.audience(), asked);
  }

  private String newToken() {
    byte[] bytes = new byte[TOKEN_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Whom a pod's token speaks for.
   *
   * @param namespace the pod's namespace
   * @param serviceAccount the pod's service account
   * @param podName the pod
   * @param podUid the pod's uid
   * @param audience whom the token is meant for
   */
  public record PodIdentity(
      String namespace, String serviceAccount, String podName, String podUid, String audience) {}
}
