package io.mortise.connection.pool;

import com.google.common.base.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a client's connections.
 *
 * @param maxConnections the maximum number of connections in use at a time, to one server
 * @param commandTimeout the limit for one command, and for connecting
 * @param durability how safe a write has to be before an attempt counts
 * @param security what TLS and sentinels need beside the URI
 * @param ticker the one clock of the client; all its deadlines and moments are by this clock
 * @param random chooses among servers and addresses, so that clients do not all ask the same one
 */
public record ConnectionSettings(
    int maxConnections,
    Duration commandTimeout,
    Durability durability,
    Security security,
    Ticker ticker,
    Random random) {

  /**
   * The acknowledgements that a write needs.
   *
   * @param replicas how many replicas have to acknowledge it
   * @param onDisk whether it has to be in the append-only files of the master and of that many
   *     replicas
   * @param within how long to wait for the acknowledgements
   */
  public record Durability(int replicas, boolean onDisk, Duration within) {
    /** Returns whether a write has to wait for any acknowledgement. */
    public boolean isWanted() {
      return replicas > 0 || onDisk;
    }
  }

  /**
   * What a URI cannot say of the connections.
   *
   * @param tls null for the certificates of the JVM
   * @param sentinelUser null for the default user
   * @param sentinelPassword null if the sentinels want none
   */
  public record Security(
      @Nullable Tls tls, @Nullable String sentinelUser, @Nullable String sentinelPassword) {
    /** No extra settings: the URI is sufficient. */
    public static final Security NONE = new Security(null, null, null);

    /** Returns what it is, without the password. */
    @Override
    public String toString() {
      return "Security[tls=%s, sentinelUser=%s]".formatted(tls, sentinelUser);
    }
  }

  /**
   * How TLS is spoken.
   *
   * @param context has the certificates
   * @param protocols the versions to choose from; empty for those of the context
   * @param cipherSuites the cipher suites to choose from; empty for those of the context
   */
  public record Tls(SSLContext context, List<String> protocols, List<String> cipherSuites) {
    /** Returns the parameters of a socket, which compares the certificate with the host. */
    public SSLParameters parameters() {
      SSLParameters parameters = new SSLParameters();
      if (!protocols.isEmpty()) {
        parameters.setProtocols(protocols.toArray(String[]::new));
      }
      if (!cipherSuites.isEmpty()) {
        parameters.setCipherSuites(cipherSuites.toArray(String[]::new));
      }
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      return parameters;
    }
  }
}
