package dev.kastor.agent.ring;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Authenticated encryption of the frames of one connection, on its sending or on its receiving end.
 *
 * <p>A frame's payload is encrypted, its header authenticated with it. The nonce is the frame's
 * number, which is not sent: a frame that is changed, left out, repeated or out of turn does not
 * open. After {@value #FRAMES_PER_KEY} frames, 256 GiB of full ones, both ends go on to a next key,
 * so that no key is used for more than AES-GCM is good for (RFC 8446, section 5.5). Not
 * thread-safe.
 */
final class Seal {
  static final int TAG_BYTES = 16;

  /** Message of the failure to open a frame. */
  static final String FORGED = "a frame from the left was changed on its way or is out of turn";

  static final long FRAMES_PER_KEY = 1 << 21;
  private static final int KEY_BYTES = 32;

  // Frames so small are cheap while nothing is compiled yet; so many make the JIT compile all.
  private static final int WARM_UP_BYTES = 256;
  private static final int WARM_UP_FRAMES = 2000;

  private static final int NONCE_BYTES = 12;
  private static final byte[] NEXT = {'n', 'e', 'x', 't'};

  private final RingCipher cipher;
  private final int mode;
  private final long framesPerKey;
  private final Cipher engine;
  private final ByteBuffer nonce = ByteBuffer.allocate(NONCE_BYTES);
  private SecretKey key;
  private long frames;

  private Seal(RingCipher cipher, int mode, SecretKey key, long framesPerKey) {
    this.cipher = cipher;
    this.mode = mode;
    this.key = key;
    this.framesPerKey = framesPerKey;
    try {
      engine = Cipher.getInstance(cipher.transformation());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + cipher.transformation(), e);
    }
  }

  /**
   * The end that sends; null where nothing is encrypted.
   *
   * @param key of this connection
   */
  static @Nullable Seal sending(RingCipher cipher, HKDFParameterSpec key) {
    return sending(cipher, key, FRAMES_PER_KEY);
  }

  static @Nullable Seal sending(RingCipher cipher, HKDFParameterSpec key, long framesPerKey) {
    return cipher == RingCipher.NONE
        ? null
        : new Seal(cipher, Cipher.ENCRYPT_MODE, derived(cipher, key), framesPerKey);
  }

  /** The end that receives; null where nothing is encrypted. */
  static @Nullable Seal receiving(RingCipher cipher, HKDFParameterSpec key) {
    return receiving(cipher, key, FRAMES_PER_KEY);
  }

  static @Nullable Seal receiving(RingCipher cipher, HKDFParameterSpec key, long framesPerKey) {
    return cipher == RingCipher.NONE
        ? null
        : new Seal(cipher, Cipher.DECRYPT_MODE, derived(cipher, key), framesPerKey);
  }

  /** Seals and opens so many small frames with a key of its own; see {@link RingCipher#warmUp}. */
  static void warmUp(RingCipher cipher) {
    HKDFParameterSpec key =
        key(
            new SecretKeySpec(new byte[KEY_BYTES], "HKDF-SHA256"),
            new byte[KEY_BYTES],
            new byte[] {});
    Seal sending = sending(cipher, key);
    Seal receiving = receiving(cipher, key);
    if (sending == null || receiving == null) {
      return;
    }
    byte[] frame = new byte[Frame.HEADER_BYTES + WARM_UP_BYTES + TAG_BYTES];
    byte[] payload = new byte[WARM_UP_BYTES];
    try {
      for (int i = 0; i < WARM_UP_FRAMES; i++) {
        sending.seal(frame, WARM_UP_BYTES);
        receiving.open(frame, 0, WARM_UP_BYTES, payload);
      }
    } catch (IOException e) {
      throw new IllegalStateException("a frame that was just sealed does not open", e);
    }
  }

  /** The key of a connection: from what all replicas share and both ends said in the handshake. */
  static HKDFParameterSpec key(SecretKey secret, byte[] salt, byte[] handshake) {
    return HKDFParameterSpec.ofExtract()
        .addIKM(secret)
        .addSalt(salt)
        .thenExpand(handshake, KEY_BYTES);
  }

  /**
   * Encrypts a payload where it is, of {@code bytes} behind the header, and appends the tag.
   *
   * @return bytes of the whole frame
   */
  int seal(byte[] frame, int bytes) {
    try {
      turn();
      engine.updateAAD(frame, 0, Frame.HEADER_BYTES);
      return Frame.HEADER_BYTES
          + engine.doFinal(frame, Frame.HEADER_BYTES, bytes, frame, Frame.HEADER_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot encrypt a frame of %d bytes".formatted(bytes), e);
    }
  }

  /**
   * Decrypts the payload of the frame at {@code from}.
   *
   * @throws IOException if it is not the next one that the other end has sealed
   */
  void open(byte[] frames, int from, int bytes, byte[] payload) throws IOException {
    try {
      turn();
      engine.updateAAD(frames, from, Frame.HEADER_BYTES);
      engine.doFinal(frames, from + Frame.HEADER_BYTES, bytes + TAG_BYTES, payload, 0);
    } catch (AEADBadTagException e) {
      throw new RingBrokenException(FORGED, e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot decrypt a frame of %d bytes".formatted(bytes), e);
    }
  }

  private void turn() throws GeneralSecurityException {
    if (frames > 0 && frames % framesPerKey == 0) {
      key = derived(cipher, HKDFParameterSpec.expandOnly(key, NEXT, KEY_BYTES));
    }
    nonce.putLong(NONCE_BYTES - Long.BYTES, frames);
    frames = Math.incrementExact(frames);
    engine.init(mode, key, cipher.parameters(nonce.array()));
  }

  private static SecretKey derived(RingCipher cipher, HKDFParameterSpec from) {
    try {
      return KDF.getInstance("HKDF-SHA256").deriveKey(cipher.algorithm(), from);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HKDF-SHA256", e);
    }
  }
}
