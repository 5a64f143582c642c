package io.mortise.connection.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadDeadlineSocketTest {
  private static final int BYTES = 20;

  private final CountDownLatch never = new CountDownLatch(1);
  private ServerSocket server;
  private ReadDeadlineSocket socket;

  @BeforeEach
  void connect() throws Exception {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    socket = new ReadDeadlineSocket(Ticker.systemTicker());
    socket.connect(server.getLocalSocketAddress());
  }

  @AfterEach
  void close() throws Exception {
    socket.close();
    server.close();
  }

  /** A byte every 200 ms. */
  private BackgroundCall<Boolean> trickle() {
    return BackgroundCall.start(
        () -> {
          try (Socket client = server.accept();
              OutputStream out = client.getOutputStream()) {
            for (int i = 0; i < BYTES; i++) {
              out.write(i);
              assertEquals(false, never.await(200, TimeUnit.MILLISECONDS));
            }
          } catch (SocketException closed) {
            return false;
          }
          return true;
        });
  }

  private int readAll() throws Exception {
    InputStream in = socket.getInputStream();
    byte[] some = new byte[8];
    int count = 0;
    for (int n = in.read(some, 0, some.length); n > 0; n = in.read(some, 0, some.length)) {
      count += n;
    }
    return count;
  }

  @Test
  void theTimeOutCountsFromWhenItWasSetAndNotFromEachRead() throws Exception {
    trickle();
    socket.setSoTimeout(1_000);

    assertThrows(SocketTimeoutException.class, this::readAll);
    assertEquals(1_000, socket.getSoTimeout());
  }

  @Test
  void withoutATimeOutItReadsToTheEnd() throws Exception {
    trickle();
    socket.setSoTimeout(1);
    socket.setSoTimeout(0);

    assertEquals(BYTES, readAll());
  }

  @Test
  void whenTheTimeIsOverEvenWhatIsThereIsNotRead() throws Exception {
    try (Socket client = server.accept()) {
      client.getOutputStream().write(1);
      socket.setSoTimeout(1);
      InputStream in = socket.getInputStream();
      assertEquals(false, never.await(20, TimeUnit.MILLISECONDS));

      assertThrows(SocketTimeoutException.class, in::read);
      socket.setSoTimeout(20_000);
      assertEquals(1, in.read());
    }
  }
}
