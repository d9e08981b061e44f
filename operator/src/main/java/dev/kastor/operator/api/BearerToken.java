package dev.kastor.operator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.time.Instant;
import java.util.Base64;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What a request shows to say who it is. */
public final class BearerToken {
  private static final String BEARER = "Bearer ";
  private static final ObjectMapper JSON = new ObjectMapper();

  private BearerToken() {}

  /**
   * The token of an {@code Authorization} header.
   *
   * @throws ApiException with 401 if there is none
   */
  public static String of(@Nullable String authorization) throws ApiException {
    String token =
        authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
            ? authorization.substring(BEARER.length()).strip()
            : "";
    if (token.isEmpty()) {
      throw ApiException.unauthorized("a bearer token is needed");
    }
    return token;
  }

  /**
   * Whether a token says of itself that it is for such an audience.
   *
   * <p>Nothing is verified: the claim may choose how to ask or which way to say no, never whether
   * to say yes.
   */
  public static boolean claimsAudience(String token, Predicate<String> audience) {
    JsonNode claimed = claims(token).path("aud");
    return audience.test(claimed.isArray() ? claimed.path(0).asText() : claimed.asText());
  }

  /** Until when a token says that it is good; {@link Instant#MAX} if it does not say. */
  static Instant end(String token) {
    JsonNode end = claims(token).path("exp");
    return end.isNumber() ? Instant.ofEpochSecond(end.asLong()) : Instant.MAX;
  }

  /**
   * Whom a token says that it is for: a pod by its uid, else its subject; empty if it says neither.
   * Nothing is verified.
   */
  static String subject(String token) {
    JsonNode claims = claims(token);
    String pod = claims.path("kubernetes.io").path("pod").path("uid").asText();
    return pod.isEmpty() ? claims.path("sub").asText() : pod;
  }

  private static JsonNode claims(String token) {
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) {
      return MissingNode.getInstance();
    }
    try {
      return JSON.readTree(Base64.getUrlDecoder().decode(parts[1]));
    } catch (IOException | IllegalArgumentException e) {
      return MissingNode.getInstance();
    }
  }
}
