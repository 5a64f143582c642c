package com.example.springbootservice;

import io.mortise.spring.boot.LockNotAcquiredException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Sells over HTTP. */
@RestController
class ShopController {
  private final StockService stock;

  ShopController(StockService stock) {
    this.stock = stock;
  }

  /** Sells one piece; the answer is how many are left, or -1 if there was none. */
  @PostMapping("/sales/{article}")
  int sell(@PathVariable("article") String article) {
    return stock.sell(article);
  }

  @ExceptionHandler(LockNotAcquiredException.class)
  @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
  String busy(LockNotAcquiredException e) {
    return e.getMessage();
  }
}
