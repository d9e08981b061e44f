package dev.kastor.e2e.attack;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * HTTP byte for byte to the ports of the operator, by one who keeps to no rule. Notes each answer
 * that tells of the honest tenant. Thread-safe.
 */
final class Stranger {
  private static final int PATIENCE_MILLIS = 4000;
  private static final int MOST_BYTES = 1 << 20;
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] (\\d{3}) ");

  private final String address;
  private final SSLContext tls;
  private final List<String> leaks = new CopyOnWriteArrayList<>();

  /** A port of the operator. */
  enum Port {
    PLAIN(8080),
    TLS(8443);

    private final int number;

    Port(int number) {
      this.number = number;
    }
  }

  /**
   * Answers of the server.
   *
   * @param statuses of all answers on the connection
   * @param text all of it
   */
  record Answer(List<Integer> statuses, String text) {
    Answer {
      statuses = List.copyOf(statuses);
    }

    /** The first status, 0 if there was no answer. */
    int status() {
      return statuses.isEmpty() ? 0 : statuses.getFirst();
    }
  }

  Stranger(String address) throws GeneralSecurityException {
    this.address = address;
    tls = SSLContext.getInstance("TLS");
    tls.init(null, new TrustManager[] {new Anyone()}, null);
  }

  /** Answers of 200 that told of the honest tenant, by request. */
  List<String> leaks() {
    return List.copyOf(leaks);
  }

  /** Forgets them. */
  void forget() {
    leaks.clear();
  }

  /** Asks as a browser would. */
  Answer get(Port port, String path, String token) throws IOException {
    return send(port, request("GET", path, token, "operator", ""));
  }

  /** A whole request; an empty token is none. */
  static String request(String method, String path, String token, String host, String body) {
    return """
    %s %s HTTP/1.1\r
    Host: %s\r
    Connection: close\r
    %sContent-Type: application/json\r
    Content-Length: %d\r
    \r
    %s\
    """
        .formatted(
            method,
            path,
            host,
            token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n",
            body.length(),
            body);
  }

  /** Sends these bytes and reads until the connection ends or nothing comes. */
  Answer send(Port port, String bytes) throws IOException {
    try (Socket socket = open(port)) {
      String text = exchange(socket, bytes);
      List<Integer> statuses =
          STATUS.matcher(text).results().map(found -> Integer.valueOf(found.group(1))).toList();
      if (statuses.contains(200) && text.contains(Honest.MARK)) {
        leaks.add(port + " " + bytes.lines().findFirst().orElse(""));
      }
      return new Answer(statuses, text);
    }
  }

  /** A connection, encrypted where the port is. */
  Socket open(Port port) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(address, port.number), PATIENCE_MILLIS);
      socket.setSoTimeout(PATIENCE_MILLIS);
      return port == Port.PLAIN
          ? socket
          : tls.getSocketFactory().createSocket(socket, address, port.number, true);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Whoever is cut off while he speaks has no answer. */
  private static String exchange(Socket socket, String bytes) {
    try {
      socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
      return read(socket.getInputStream());
    } catch (IOException e) {
      return "";
    }
  }

  private static String read(InputStream in) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] some = new byte[8192];
    try {
      for (int got = in.read(some); got >= 0 && all.size() < MOST_BYTES; got = in.read(some)) {
        all.write(some, 0, got);
      }
    } catch (IOException e) {
      // A stream of events has no end, and who is cut off keeps what was said before.
    }
    return all.toString(ISO_8859_1);
  }

  /** It is attacked, not believed. */
  private static final class Anyone implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
