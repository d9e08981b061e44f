package dev.kastor.operator.http;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Key manager of a server whose certificate and key can be replaced while handshakes go on: each
 * handshake is finished with the pair that it began with. Thread-safe.
 */
final class ReplaceableKeys extends X509ExtendedKeyManager {
  private static final String AFTER_NUMBER = "/";

  private record Keys(long number, X509ExtendedKeyManager manager, @Nullable Keys before) {}

  private volatile Keys current;

  ReplaceableKeys(X509ExtendedKeyManager first) {
    current = new Keys(0, first, null);
  }

  /** Handshakes that begin from now on are made with these. */
  synchronized void replace(X509ExtendedKeyManager next) {
    Keys last = current;
    // No handshake takes as long as two renewals are apart.
    current = new Keys(last.number() + 1, next, new Keys(last.number(), last.manager(), null));
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal[] issuers, SSLEngine engine) {
    Keys keys = current;
    String alias = keys.manager().chooseEngineServerAlias(keyType, issuers, engine);
    return alias == null ? null : keys.number() + AFTER_NUMBER + alias;
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    return of(alias).map(keys -> keys.manager().getPrivateKey(inner(alias))).orElse(null);
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    return of(alias).map(keys -> keys.manager().getCertificateChain(inner(alias))).orElse(null);
  }

  private Optional<Keys> of(String alias) {
    String number = alias.substring(0, alias.indexOf(AFTER_NUMBER));
    for (Keys keys = current; keys != null; keys = keys.before()) {
      if (number.equals(Long.toString(keys.number()))) {
        return Optional.of(keys);
      }
    }
    return Optional.empty();
  }

  private static String inner(String alias) {
    return alias.substring(alias.indexOf(AFTER_NUMBER) + AFTER_NUMBER.length());
  }

  // A server with an engine asks none of the following.

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal[] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
    return null;
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal[] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
    return null;
  }
}
