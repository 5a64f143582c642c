import io.mortise.testkit.RedisServer;

/** Runs a command while a Redis server is there, whose address is in MORTISE_REDIS, and ends with its status. */
class WithRedis {
  public static void main(String[] command) throws Exception {
    int status;
    try (RedisServer server = RedisServer.start()) {
      ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
      builder.environment().put("MORTISE_REDIS", server.uri());
      status = builder.start().waitFor();
    }
    System.exit(status);
  }
}
