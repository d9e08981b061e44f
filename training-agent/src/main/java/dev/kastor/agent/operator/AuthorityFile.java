package dev.kastor.agent.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Trusts the authorities that a PEM file holds at the time of each handshake: the kubelet replaces
 * it when the operator's authority changes, and the replica trains on.
 *
 * <p>A file that cannot be read, or holds nothing, changes nothing. Thread-safe.
 */
final class AuthorityFile extends X509ExtendedTrustManager {
  private static final Logger LOG = LoggerFactory.getLogger(AuthorityFile.class);

  private record Trusted(String pem, X509ExtendedTrustManager manager) {}

  private final Path file;
  private volatile Trusted trusted;

  AuthorityFile(Path file) throws IOException {
    this.file = file;
    try {
      trusted = read(Files.readString(file, ISO_8859_1));
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot use the CA certificate in " + file, e);
    }
  }

  private Trusted read(String pem) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    int number = 0;
    for (Certificate ca :
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(pem.getBytes(ISO_8859_1)))) {
      store.setCertificateEntry("ca-" + number++, ca);
    }
    if (number == 0) {
      throw new IOException(file + " holds no certificate");
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    for (TrustManager each : factory.getTrustManagers()) {
      if (each instanceof X509ExtendedTrustManager manager) {
        return new Trusted(pem, manager);
      }
    }
    throw new GeneralSecurityException("this JDK checks no X.509 certificates");
  }

  private X509ExtendedTrustManager now() {
    Trusted known = trusted;
    try {
      String pem = Files.readString(file, ISO_8859_1);
      if (!pem.equals(known.pem())) {
        known = read(pem);
        trusted = known;
        LOG.info("the operator's authority is another now");
      }
    } catch (IOException | GeneralSecurityException e) {
      LOG.warn("the authority in {} cannot be used, the one before stays: {}", file, e.toString());
    }
    return known.manager();
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    now().checkServerTrusted(chain, type, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    now().checkServerTrusted(chain, type, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    now().checkServerTrusted(chain, type);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("a replica has no clients");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("a replica has no clients");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw new CertificateException("a replica has no clients");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return trusted.manager().getAcceptedIssuers();
  }
}
