package dev.kastor.e2e.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Key of a server with its certificate, from a PKCS 12 file.
 *
 * @param context for the server
 * @param certificate that clients are shown
 */
public record ServerKey(SSLContext context, Certificate certificate) {
  /** Reads the key that has a name in a file. */
  public static ServerKey read(Path file, String name, String password) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password.toCharArray());
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return new ServerKey(context, store.getCertificate(name));
    } catch (GeneralSecurityException e) {
      throw new IOException("the key in %s cannot be used".formatted(file), e);
    }
  }
}
