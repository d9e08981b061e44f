package dev.kastor.agent.ring;

import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import java.util.stream.Collectors;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;

/** Cipher of what a replica sends to others. */
public enum RingCipher {
  /** AES-256-GCM: several GB/s where the processor has instructions for it, as most have. */
  AES_GCM("aes-gcm", 1, "AES/GCM/NoPadding", "AES"),
  /** ChaCha20-Poly1305: for processors without these. */
  CHACHA20("chacha20", 2, "ChaCha20-Poly1305", "ChaCha20"),
  /** None: what is sent can be read and changed on its way. */
  NONE("none", 0, "", "");

  private final String setting;
  private final byte code;
  private final String transformation;
  private final String algorithm;

  RingCipher(String setting, int code, String transformation, String algorithm) {
    this.setting = setting;
    this.code = (byte) code;
    this.transformation = transformation;
    this.algorithm = algorithm;
  }

  /**
   * The cipher of a setting.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static RingCipher of(String setting) {
    for (RingCipher cipher : values()) {
      if (cipher.setting.equals(setting)) {
        return cipher;
      }
    }
    throw new IllegalArgumentException(
        "it must be one of %s but is '%s'"
            .formatted(
                Arrays.stream(values()).map(each -> each.setting).collect(Collectors.joining(", ")),
                setting));
  }

  /**
   * Encrypts and decrypts small frames until the JIT has compiled the cipher, which takes a tenth
   * of a second. Until then a JVM does it without the processor's instructions, 60 times slower:
   * that would hold the first hundreds of exchanges of a new replica up, and with it all others.
   */
  public void warmUp() {
    Seal.warmUp(this);
  }

  byte code() {
    return code;
  }

  String transformation() {
    return transformation;
  }

  String algorithm() {
    return algorithm;
  }

  AlgorithmParameterSpec parameters(byte[] nonce) {
    return this == AES_GCM
        ? new GCMParameterSpec(Byte.SIZE * Seal.TAG_BYTES, nonce)
        : new IvParameterSpec(nonce);
  }
}
