package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** A kept-alive HTTP/1.1 connection, over TLS or in the clear, that sends whatever it is given. */
final class RawHttp implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 120_000;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  /** What was answered. */
  record Answer(int status, String body, boolean closes) {}

  RawHttp(SSLContext context, URI base, String... protocols) throws IOException {
    this(handshaken(context, base, protocols));
  }

  /** One in the clear. */
  RawHttp(URI base) throws IOException {
    this(new Socket(base.getHost(), base.getPort()));
  }

  private RawHttp(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  private static SSLSocket handshaken(SSLContext context, URI base, String... protocols)
      throws IOException {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(base.getHost(), base.getPort());
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    if (protocols.length > 0) {
      socket.setEnabledProtocols(protocols);
    }
    socket.startHandshake();
    return socket;
  }

  /** Sends bytes as they are. */
  void send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Sends a head, whose lines end in {@code \n} here, and a body. */
  void send(String head, byte[] body) throws IOException {
    send(request(head, body));
  }

  /** A head, whose lines end in {@code \n} here, and a body. */
  static byte[] request(String head, byte[] body) {
    byte[] first = head.replace("\n", "\r\n").getBytes(ISO_8859_1);
    byte[] all = Arrays.copyOf(first, first.length + body.length);
    System.arraycopy(body, 0, all, first.length, body.length);
    return all;
  }

  /**
   * Reads one answer.
   *
   * @throws EOFException if the connection ended instead
   */
  Answer read() throws IOException {
    return read(false);
  }

  /** The same; an answer to HEAD has no body, whatever it says. */
  Answer read(boolean head) throws IOException {
    int status = status();
    int length = 0;
    boolean chunked = false;
    boolean closes = false;
    for (String header = line(); !header.isEmpty(); header = line()) {
      int colon = header.indexOf(':');
      String name = header.substring(0, colon).strip();
      String value = header.substring(colon + 1).strip();
      if (name.equalsIgnoreCase("content-length")) {
        length = Integer.parseInt(value);
      }
      chunked |= name.equalsIgnoreCase("transfer-encoding") && value.contains("chunked");
      closes |= name.equalsIgnoreCase("connection") && value.equalsIgnoreCase("close");
    }
    if (head || status == 304) {
      return new Answer(status, "", closes);
    }
    if (!chunked) {
      return new Answer(status, new String(in.readNBytes(length), ISO_8859_1), closes);
    }
    StringBuilder body = new StringBuilder();
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      body.append(new String(in.readNBytes(size), ISO_8859_1));
      line();
    }
    line();
    return new Answer(status, body.toString(), closes);
  }

  /** Says that nothing more comes. */
  void finish() throws IOException {
    socket.shutdownOutput();
  }

  /** Reads the first line of an answer, which may go on for ever. */
  int status() throws IOException {
    return Integer.parseInt(line().split(" ", -1)[1]);
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line().strip(), 16);
  }

  private String line() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the connection ended after '" + text + "'");
      }
      text.append((char) next);
    }
    return text.toString().strip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
