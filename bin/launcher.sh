# Read by the launchers beside it: builds a module of this checkout when it is missing or older than its
# sources, and runs it. Needs a JDK 17 or later, as JAVA_HOME or on the PATH, and nothing else.
#
# name    what messages begin with
# root    the checkout
# module  the folder of the module, whose jar is mortise-<module>.jar
# failed  the exit status of a start that fails; 3 if it is not set

. "$root/bin/java.sh"

jar=$root/$module/target/mortise-$module.jar
built=$root/$module/target/.built-by-launcher

# Whether nothing that the jar is made of is newer than it. The jar of a build that changed nothing
# may keep its old time, so the beginning of our own last build counts too.
fresh() {
  [ -f "$jar" ] && [ -d "$root/$module/target/lib" ] || return 1
  newest=$jar
  [ ! -f "$built" ] || [ -z "$(find "$built" -newer "$jar")" ] || newest=$built
  [ -z "$(find "$root/pom.xml" "$root"/*/pom.xml "$root"/*/src/main -newer "$newest" | head -n 1)" ]
}

build() {
  [ -x "$(dirname "$java")/javac" ] || command -v javac >/dev/null ||
    die "to build it at the first start a JDK is needed, and '$java' has no javac beside it"
  say "building it, at the first start and after changes (a minute or so) ..."
  : >"$built.begun"
  (cd "$root" && ./mvnw -q -B -DskipTests -Dspotless.check.skip=true -Dassembly.skipAssembly -pl "$module" -am package </dev/null >&2) ||
    die "the build failed; its messages are above"
  mv -f "$built.begun" "$built"
}

if ! fresh; then
  mkdir -p "$root/$module/target" && [ -w "$root/$module/target" ] ||
    die "it is not built, and '$root/$module/target' cannot be written to"
  # One build at a time: the link says whose it is.
  lock=$root/$module/target/.building
  while ! ln -s "$$" "$lock" 2>/dev/null; do
    builder=$(readlink "$lock") && ! kill -0 "$builder" 2>/dev/null && rm -f "$lock"
    sleep 1
  done
  trap 'rm -f "$lock"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  fresh || build
  rm -f "$lock"
  trap - EXIT INT TERM
fi
