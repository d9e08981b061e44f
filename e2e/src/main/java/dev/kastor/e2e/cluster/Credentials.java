package dev.kastor.e2e.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;

/** Tokens of service accounts, from the API server or signed with its key. */
public record Credentials(KubernetesClient client) {
  private static final long TEN_MINUTES = 600;
  private static final Base64.Encoder URL = Base64.getUrlEncoder().withoutPadding();

  /** A token of an account; for the API server itself without audiences. */
  public String ofAccount(String namespace, String account, String... audiences) {
    return client
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(account)
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withAudiences(audiences)
                .withExpirationSeconds(TEN_MINUTES)
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }

  /** A token as the kubelet gets it for a pod. */
  public String ofPod(Pod pod, String audience) {
    return client
        .serviceAccounts()
        .inNamespace(pod.getMetadata().getNamespace())
        .withName(pod.getSpec().getServiceAccountName())
        .tokenRequest(
            new TokenRequestBuilder()
                .withNewSpec()
                .withAudiences(audience)
                .withExpirationSeconds(TEN_MINUTES)
                .withNewBoundObjectRef()
                .withApiVersion("v1")
                .withKind("Pod")
                .withName(pod.getMetadata().getName())
                .withUid(pod.getMetadata().getUid())
                .endBoundObjectRef()
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }

  /** The token with another signature. */
  public static String forged(String token) {
    int end = token.lastIndexOf('.') + 1;
    String signature = token.substring(end);
    return token.substring(0, end) + new StringBuilder(signature).reverse();
  }

  /** The same token as it would be if it had ended a minute ago, truly signed. */
  public static String expired(String token) throws IOException, GeneralSecurityException {
    String[] parts = token.split("\\.", -1);
    String claims = new String(Base64.getUrlDecoder().decode(parts[1]), UTF_8);
    long end = Instant.now().minusSeconds(60).getEpochSecond();
    String old =
        claims
            .replaceAll("\"exp\":\\d+", "\"exp\":" + end)
            .replaceAll("\"(iat|nbf)\":\\d+", "\"$1\":" + (end - TEN_MINUTES));
    String signed = parts[0] + "." + URL.encodeToString(old.getBytes(UTF_8));
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(key());
    signature.update(signed.getBytes(UTF_8));
    return signed + "." + URL.encodeToString(signature.sign());
  }

  /** The same token signed anew, to know that a signature of ours is good. */
  public static String signedAnew(String token) throws IOException, GeneralSecurityException {
    String signed = token.substring(0, token.lastIndexOf('.'));
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(key());
    signature.update(signed.getBytes(UTF_8));
    return signed + "." + URL.encodeToString(signature.sign());
  }

  private static PrivateKey key() throws IOException, GeneralSecurityException {
    Path file = Path.of(System.getenv("KASTOR_E2E_STATE"), "pki", "accounts.key");
    String pem = Files.readString(file);
    byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[^-]+-----", ""));
    return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der));
  }
}
