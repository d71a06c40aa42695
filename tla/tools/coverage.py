#!/usr/bin/env python3
"""Which actions never fired, over all searches of a module: tools/coverage.py MODULE OUTPUT...

The outputs are those of TLC with `-coverage 1`. An action that fires in none of them is a fault of the searches.
"""
import re
import sys

fired, seen = set(), set()
for path in sys.argv[2:]:
    for line in open(path):
        m = re.match(r"<(\w+) line .* of module " + sys.argv[1] + r"\w*>: (\d+):(\d+)", line)
        if m:
            seen.add(m[1])
            if m[3] != "0":
                fired.add(m[1])
never = sorted(seen - fired)
print(f"{len(seen)} actions, {len(never)} never fired")
print("\n".join(never))
sys.exit(bool(never))
