package dev.kastor.e2e.image;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * A key for an address of this machine and the certificate that it signed itself.
 *
 * @param server for who serves with the key
 * @param pem for who is to trust it
 */
record OwnCertificate(SSLContext server, String pem) {
  private static final String NAME = "own";
  private static final String PASSWORD = "not a secret";

  /** Makes one for 127.0.0.1; its key store is left in the folder. */
  static OwnCertificate make(Path folder) throws IOException, InterruptedException {
    Path file = folder.resolve("own.p12");
    Path log = folder.resolve("keytool.log");
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin/keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    NAME,
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=rehearsal",
                    "-ext",
                    "san=ip:127.0.0.1",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    PASSWORD,
                    "-keystore",
                    file.toString()))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (keytool.waitFor() != 0) {
      throw new IOException("keytool made no certificate: " + Files.readString(log));
    }
    ServerKey key = ServerKey.read(file, NAME, PASSWORD);
    try {
      String body =
          Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
              .encodeToString(key.certificate().getEncoded());
      return new OwnCertificate(
          key.context(), "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n");
    } catch (CertificateEncodingException e) {
      throw new IOException("the certificate in %s cannot be used".formatted(file), e);
    }
  }
}
