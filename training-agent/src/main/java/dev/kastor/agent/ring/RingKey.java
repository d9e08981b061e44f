package dev.kastor.agent.ring;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A job's name and the secret that its replicas share; proves membership without showing it, and
 * gives each connection a key of its own.
 */
public final class RingKey {
  /** Fewest bytes of a secret. */
  public static final int MIN_BYTES = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private final String job;
  private final SecretKeySpec secret;
  private final RingCipher cipher;

  /**
   * @param job {@code namespace/name}
   * @param secret at least {@link #MIN_BYTES} random bytes
   * @param cipher of what this replica sends; each says in its handshakes which it is
   */
  public RingKey(String job, byte[] secret, RingCipher cipher) {
    if (secret.length < MIN_BYTES) {
      throw new IllegalArgumentException(
          "the ring secret of job %s has %d bytes; at least %d are needed"
              .formatted(job, secret.length, MIN_BYTES));
    }
    this.job = job;
    this.secret = new SecretKeySpec(secret, ALGORITHM);
    this.cipher = cipher;
  }

  /** Cipher of what this replica sends. */
  RingCipher cipher() {
    return cipher;
  }

  /** The key of the connection that this handshake is about. */
  HKDFParameterSpec traffic(byte[] hello, byte[] acceptorNonce) {
    return Seal.key(secret, acceptorNonce, hello);
  }

  /** The job's {@code namespace/name}. */
  public String job() {
    return job;
  }

  /** The code by which {@code side} answers the other side's nonce for this hello. */
  byte[] code(Side side, byte[] hello, byte[] acceptorNonce) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      mac.update(side.label);
      mac.update(hello);
      mac.update(acceptorNonce);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, e);
    }
  }

  /** Who proves itself; part of the code so that neither side's can be replayed as the other's. */
  enum Side {
    CONNECTOR('C'),
    ACCEPTOR('A');

    private final byte label;

    Side(char label) {
      this.label = (byte) label;
    }
  }
}
