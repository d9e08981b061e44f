package dev.kastor.cli.recording;

import dev.kastor.local.kubelet.PrivateFiles;
import dev.kastor.scheduler.live.RecordingDocument.Named;
import dev.kastor.scheduler.live.RecordingDocument.Renaming;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Pseudonyms by a keyed hash (HMAC-SHA-256): equal names have equal ones in all recordings that are
 * made with one key, and without the key nobody can try out names.
 */
final class Pseudonyms implements Renaming {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  /** 40 bits: two of a thousand names are the same once in two million times. */
  private static final int SHOWN_BYTES = 5;

  private final SecretKeySpec key;

  Pseudonyms(byte[] key) {
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  /** Pseudonyms with the key of a file, which is made if it is not there. */
  static Pseudonyms ofKey(Path file) throws IOException {
    if (!Files.exists(file)) {
      byte[] fresh = new byte[KEY_BYTES];
      new SecureRandom().nextBytes(fresh);
      PrivateFiles.write(file, fresh);
    }
    byte[] key = Files.readAllBytes(file);
    if (key.length != KEY_BYTES) {
      throw new IOException(
          "%s must have %d bytes but has %d. Remove it, and other pseudonyms are used from then on."
              .formatted(file, KEY_BYTES, key.length));
    }
    return new Pseudonyms(key);
  }

  @Override
  public String of(Named kind, String name) {
    String word = kind.name().toLowerCase(Locale.ROOT);
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      byte[] hash = mac.doFinal((word + ' ' + name).getBytes(StandardCharsets.UTF_8));
      return word + '-' + HexFormat.of().formatHex(hash, 0, SHOWN_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }
}
