package dev.kastor.operator.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Certificate and key of a server, as PEM files, which are read again once they have changed.
 *
 * <p>What is new counts after it has stayed the same for a while: by then each replica has the
 * authority that signed it, and nobody is half-way through writing the two files. What cannot be
 * used is said once, and the pair before stays.
 */
final class CertificateFiles {
  private static final Logger LOG = LoggerFactory.getLogger(CertificateFiles.class);

  /** Longer than a kubelet takes to bring a new authority to all replicas. */
  static final Duration SETTLE = Duration.ofMinutes(2);

  private static final byte[] SIGNED = "kastor".getBytes(UTF_8);

  /** Name of the signature that shows that a key is a certificate's, by the key's algorithm. */
  private static final Map<String, String> SIGNATURES =
      Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "EdDSA", "EdDSA");

  private record Pems(Buffer certificate, Buffer key) {}

  private record Candidate(Pems pems, Instant since) {}

  private final Path certificate;
  private final Path key;
  private final Vertx vertx;
  private final InstantSource clock;
  private final ReplaceableKeys keys;
  private Pems known;
  private @Nullable Candidate candidate;

  /**
   * Reads the files.
   *
   * @throws IOException if that cannot be done, or the key is not the certificate's
   */
  CertificateFiles(Path certificate, Path key, Vertx vertx, InstantSource clock)
      throws IOException {
    this.certificate = certificate;
    this.key = key;
    this.vertx = vertx;
    this.clock = clock;
    known = read();
    keys = new ReplaceableKeys(manager(known));
  }

  /** Key manager of a server, which always has the newest usable pair. */
  X509ExtendedKeyManager keys() {
    return keys;
  }

  /** Looks whether the files have changed. */
  synchronized void look() {
    try {
      Pems now = read();
      if (now.equals(known)) {
        candidate = null;
      } else if (candidate == null || !now.equals(candidate.pems())) {
        candidate = new Candidate(now, clock.instant());
      } else if (!clock.instant().isBefore(candidate.since().plus(SETTLE))) {
        take(now);
      }
    } catch (IOException e) {
      LOG.debug("certificate {} cannot be read now: {}", certificate, e.getMessage());
    }
  }

  private void take(Pems now) {
    // Known from now on also if it cannot be used, so that this is said once.
    known = now;
    candidate = null;
    try {
      X509ExtendedKeyManager manager = manager(now);
      keys.replace(manager);
      LOG.info("the certificate in {} is new, and shown from now on", certificate);
    } catch (IOException e) {
      LOG.warn("{}; the certificate before is still shown", e.getMessage());
    }
  }

  private Pems read() throws IOException {
    return new Pems(
        Buffer.buffer(Files.readAllBytes(certificate)), Buffer.buffer(Files.readAllBytes(key)));
  }

  private X509ExtendedKeyManager manager(Pems pems) throws IOException {
    try {
      for (KeyManager each :
          new PemKeyCertOptions()
              .setCertValue(pems.certificate())
              .setKeyValue(pems.key())
              .getKeyManagerFactory(vertx)
              .getKeyManagers()) {
        if (each instanceof X509ExtendedKeyManager manager && belongTogether(manager)) {
          return manager;
        }
      }
    } catch (Exception e) { // Vert.x declares no other.
      throw new IOException(
          "certificate %s with key %s cannot be used: %s"
              .formatted(certificate, key, e.getMessage()),
          e);
    }
    throw new IOException("%s is not the key of the certificate %s".formatted(key, certificate));
  }

  private static boolean belongTogether(X509ExtendedKeyManager manager)
      throws GeneralSecurityException {
    for (Map.Entry<String, String> each : SIGNATURES.entrySet()) {
      String[] aliases = manager.getServerAliases(each.getKey(), null);
      if (aliases != null) {
        PrivateKey key = manager.getPrivateKey(aliases[0]);
        X509Certificate shown = manager.getCertificateChain(aliases[0])[0];
        Signature signature = Signature.getInstance(each.getValue());
        signature.initSign(key);
        signature.update(SIGNED);
        byte[] signed = signature.sign();
        signature.initVerify(shown.getPublicKey());
        signature.update(SIGNED);
        return signature.verify(signed);
      }
    }
    return false;
  }
}
