# Read by the launchers: finds Java, and runs a main class. Needs a Java 17 or later, as JAVA_HOME or on the PATH.
#
# name    what messages begin with
# root    the checkout, or the folder of the archive
# jar     the jar to run, beside the folder lib of its class path
# failed  the exit status of a start that fails; 3 if it is not set

# A standard stream that is closed would become the next file that Java opens, and the command would read that file or
# write to it. (`2>&2` would test nothing in dash, hence the 3.)
{ true 3>&2; } || exec 2>/dev/null
{ true 3<&0; } 2>/dev/null || exec </dev/null
{ true 3>&1; } 2>/dev/null || exec 1</dev/null # not written to: lost output is an error

say() { printf '%s: %s\n' "$name" "$*" >&2; }
die() { say "$@"; exit "${failed:-3}"; }

# Java splits its class path at each colon, and knows no way to write one.
case $root in
  *:*) die "there is a colon in the path of its folder, '$root', and Java cannot read a class path with one: move it" ;;
esac

# In the locale C, which cron has, it finds no class in a folder whose name is not ASCII.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in
  C | POSIX)
    case $root in
      *[!\ -~]*) die "the path of its folder has characters that the locale C cannot express: set LC_ALL=C.UTF-8" ;;
    esac ;;
esac

# JAVA_HOME counts before the PATH, as in Maven.
if [ -n "${JAVA_HOME:-}" ]; then
  java=$JAVA_HOME/bin/java
  [ -x "$java" ] || die "JAVA_HOME is '$JAVA_HOME', but there is no bin/java in it"
else
  java=$(command -v java) || die "no Java: install a JDK 17 or later, or set JAVA_HOME to one"
fi
# The version stands in a file beside bin. Asking Java would take as long as a start of it.
home=$(dirname "$(readlink -f "$java" 2>/dev/null || echo "$java")")/..
version=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*$/\1/p' "$home/release" 2>/dev/null | head -n 1)
[ -n "$version" ] ||
  version=$("$java" -version 2>&1 | sed -n 's/^.* version "\([^"]*\)".*$/\1/p' | head -n 1)
major=${version%%[!0-9]*}
[ "${major:-0}" -ge 17 ] || die "Java 17 or later is needed, but '$java' is ${version:-no Java}"

# Which of the standard streams are terminals; Java cannot find out.
[ -t 0 ] && terminal_in=true || terminal_in=false
[ -t 1 ] && terminal_out=true || terminal_out=false
[ -t 2 ] && terminal=true || terminal=false

# How many lines a terminal has, for what is drawn again and again; nothing when it does not say.
rows=
[ "$terminal_out" = false ] || rows=$(stty size 2>/dev/null </dev/tty | cut -d ' ' -f 1)

# launch MAIN [ARGUMENT ...]
launch() {
  exec "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Djava.awt.headless=true \
    "-Dmortise.terminal=$terminal" "-Dmortise.terminal.in=$terminal_in" "-Dmortise.terminal.out=$terminal_out" \
    "-Dmortise.rows=$rows" "-Dmortise.root=$root" -cp "$jar" "$@"
}
