package dev.kastor.local;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Key manager of a server that shows its newest certificate to new connections. */
final class RenewableKeys extends X509ExtendedKeyManager {
  private volatile X509ExtendedKeyManager newest;

  RenewableKeys(KeyStore store, char[] password) throws GeneralSecurityException {
    newest = keys(store, password);
  }

  /** Takes the key and certificate of a store from now on. */
  void renew(KeyStore store, char[] password) throws GeneralSecurityException {
    newest = keys(store, password);
  }

  /** TLS settings of a server with these keys. */
  SSLContext context() throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(new KeyManager[] {this}, null, null);
    return context;
  }

  private static X509ExtendedKeyManager keys(KeyStore store, char[] password)
      throws GeneralSecurityException {
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, password);
    for (KeyManager manager : factory.getKeyManagers()) {
      if (manager instanceof X509ExtendedKeyManager keys) {
        return keys;
      }
    }
    throw new GeneralSecurityException("the JDK has no manager of X.509 keys");
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return newest.getServerAliases(keyType, issuers);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return newest.chooseServerAlias(keyType, issuers, socket);
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return newest.chooseEngineServerAlias(keyType, issuers, engine);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    return newest.getCertificateChain(alias);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    return newest.getPrivateKey(alias);
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return null;
  }
}
