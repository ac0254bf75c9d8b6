#!/usr/bin/env bash
# A real OpenSearch node on loopback, for tests.
#   run.sh up   HOME PORT [setting=value ...]   start in the background; returns once healthy; pid in HOME/node.pid, output in HOME/node.log
#   run.sh run  HOME PORT [setting=value ...]   the same in the foreground; TERM or INT stops the node cleanly
#   run.sh down HOME                            TERM, then wait for the process to be gone
#   run.sh build                                only fetch the jars and compile
# NODE_LINE=current (3.5, JDK 21+), compat (2.19, JDK 17+) or secured (2.19 with the security plugin: NODE_SCHEME=https, NODE_CURL=<file of curl options>); NODE_HEAP=1g; NODE_BUILD=<folder>; NODE_STATUS=green; NODE_WAIT_S=90
# NODE_OWNER=<pid>: the node stops by itself once that process is gone, however it ended
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
line=${NODE_LINE:-current}
build=${NODE_BUILD:-$here/target}/$line
case $line in
  current) oldest=21 newest=99 sources=line3 ;;
  compat)  oldest=17 newest=25 sources=line2 ;;
  secured) oldest=17 newest=25 sources=secured ;;
  *) echo "run.sh: NODE_LINE must be current, compat or secured, not '$line'" >&2; exit 2 ;;
esac

fail() { echo "run.sh: $*" >&2; exit 1; }

major() { "$1/bin/java" -version 2>&1 | sed -n '1s/.*version "\([0-9]*\).*/\1/p'; }

find_jdk() {
  local home version
  for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] || continue
    version=$(major "$home")
    if [ "${version:-0}" -ge "$oldest" ] && [ "$version" -le "$newest" ]; then jdk=$home; return; fi
  done
  fail "OpenSearch ($line) needs a JDK $oldest or newer, with javac; none in JAVA_HOME (${JAVA_HOME:-unset}) or /usr/lib/jvm"
}

built() { [ -e "$build/complete" ] && [ "$build/complete" -nt "$here/pom.xml" ] && [ "$build/complete" -nt "$here/LocalNode.java" ]; }

build_once() {   # under a lock, so that two test runs on one checkout do not build into each other
  built && return
  mkdir -p "$(dirname "$build")"
  exec 9>"$build.lock"
  if command -v flock >/dev/null; then flock 9; fi
  built || build_now
  exec 9>&-
}

build_now() {
  command -v mvn >/dev/null || fail "mvn is not on PATH; it fetches the OpenSearch jars"
  rm -rf "$build"; mkdir -p "$build/classes"
  mvn -q -B -Dstyle.color=never -f "$here/pom.xml" -P "$line" -Dout="$build" package >&2 || fail "mvn could not fetch the jars listed in $here/pom.xml"
  "$jdk/bin/javac" -proc:none -Xlint:-options -cp "$build/lib/*:$build/knn/*" -d "$build/classes" "$here/LocalNode.java" "$here/$sources/ClasspathNode.java"
  cp "$here/log4j2.properties" "$build/classes/"
  touch "$build/complete"
}

supported() { "$jdk/bin/java" "$@" -version >/dev/null 2>&1; }

launch() {   # sets $pid; HOME PORT settings...
  local home=$1 heap=${NODE_HEAP:-1g}
  local flags=(-Xms"$heap" -Xmx"$heap" -XX:+ExitOnOutOfMemoryError -Dlog4j2.disable.jmx=true -Djna.nosys=true)
  local flag
  for flag in --add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED -XX:+UseCompactObjectHeaders; do
    if [ "$(major "$jdk")" -ge 21 ] && supported "$flag"; then flags+=("$flag"); fi
  done
  if [ -n "${NODE_OWNER:-}" ]; then flags+=(-Dwisdomagent.owner="$NODE_OWNER"); fi
  mkdir -p "$home/config" "$home/data" "$home/logs"
  setsid "$jdk/bin/java" "${flags[@]}" -cp "$build/classes:$build/lib/*:$build/knn/*" wisdomagent.LocalNode "$@" \
    >>"$home/node.log" 2>&1 </dev/null &
  pid=$!
}

wait_healthy() {   # HOME PORT settings...
  local end=$((SECONDS + ${NODE_WAIT_S:-90})) want=${NODE_STATUS:-green} body
  while [ $SECONDS -lt $end ]; do
    kill -0 "$pid" 2>/dev/null || { tail -n 25 "$1/node.log" >&2; fail "the node died while starting; its output is in $1/node.log"; }
    body=$(curl -s -m 5 ${NODE_CURL:+-K "$NODE_CURL"} "${NODE_SCHEME:-http}://127.0.0.1:$2/_cluster/health?wait_for_status=$want&timeout=2s" || true)
    case $body in *"\"timed_out\":false"*) settled "$@"; return ;; esac
    sleep 0.3
  done
  kill "$pid" 2>/dev/null || true
  fail "not $want within ${NODE_WAIT_S:-90} s; last health: ${body:-none}; output in $1/node.log"
}

settled() {   # HOME PORT settings...; a node alone has nowhere to put replicas, and their default is a setting of the cluster, not of the node
  case " $* " in
    *" discovery.seed_hosts="* | *" plugins.security."*) ;;
    *) curl -s -m 10 -o /dev/null -X PUT -H 'content-type: application/json' "http://127.0.0.1:$2/_cluster/settings" \
         -d '{"persistent": {"cluster.default_number_of_replicas": 0}}' || true ;;
  esac
  echo "$pid" >"$1/node.pid"
  echo "OpenSearch $line: http://127.0.0.1:$2 pid $pid"
}

free_port() { ! curl -s -m 2 -o /dev/null "http://127.0.0.1:$1/" || fail "something already answers on port $1"; }

command=${1:-}; shift || true
case $command in
  build) find_jdk; build_once; echo "$build" ;;
  up)    find_jdk; build_once; free_port "$2"; launch "$@"; wait_healthy "$@"; disown ;;
  run)   find_jdk; build_once; free_port "$2"; launch "$@"
         trap 'kill "$pid" 2>/dev/null || true' TERM INT
         wait_healthy "$@"
         while kill -0 "$pid" 2>/dev/null; do wait "$pid" || true; done
         rm -f "$1/node.pid" ;;
  down)  pid=$(cat "$1/node.pid") || fail "no node.pid in $1"
         kill "$pid" 2>/dev/null || true
         for _ in $(seq 150); do kill -0 "$pid" 2>/dev/null || { rm -f "$1/node.pid"; exit 0; }; sleep 0.2; done
         fail "pid $pid is still alive 30 s after TERM" ;;
  *) sed -n '2,8p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
