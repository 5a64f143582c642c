/** The Lua scripts of Mortise and the type that loads them. Knows nothing of clients or locks. */
@org.jspecify.annotations.NullMarked
module io.mortise.scripts {
  requires static transitive org.jspecify;

  exports io.mortise.scripts;
}
