package com.example.springbootservice;

import io.mortise.core.LockClient;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A service with one client for its locks. */
@SpringBootApplication
public class ShopApplication {

  /** The client, which Spring closes after the beans that use it. */
  @Bean(destroyMethod = "close")
  LockClient locks(@Value("${redis.uri:redis://localhost:6379}") String uri) {
    return LockClient.create(uri);
  }

  /**
   * Sells a shoe.
   *
   * @param arguments properties, such as {@code --redis.uri=redis://host:6379}
   */
  public static void main(String... arguments) throws Exception {
    try (var context = SpringApplication.run(ShopApplication.class, arguments)) {
      System.out.println("left: " + context.getBean(StockService.class).sell("shoe"));
    }
  }
}
