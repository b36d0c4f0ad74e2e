"""python3 verify.py LOG: is it whole? All but signatures; knows nothing of --audit-keep and `audit seal`."""
import hashlib
import json
import pathlib
import sys

log = pathlib.Path(sys.argv[1])
earlier = log.parent.glob(log.name + ".??????*-*Z-*")
files = sorted(earlier, key=lambda path: int(path.name[len(log.name) + 1:].split("-")[0]))
due, seen, last = {}, set(), {}
for path in files + [log]:
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        try:
            record, body = json.loads(line), line.rpartition(b',"hash":"')[0]
            chained = b"execward-audit-v1\0" + bytes.fromhex(record["prev"]) + body
            digest = hashlib.sha256(chained).hexdigest()
            previous = record.get("log", {}).get("previous")
            assert line == body + f',"hash":"{digest}"}}\n'.encode(), "was changed"
            assert (record["seq"], record["prev"]) == due.get(record["chain"], (0, "0" * 64)), "is not next"
            assert previous is None or previous["hash"] in seen, "begins behind what is not there"
        except Exception as fault:
            sys.exit(f"{path.name}:{number}: {fault!r}")
        due[record["chain"]] = (record["seq"] + 1, digest)
        last[record["chain"]] = (record["type"], f"{path.name}:{number}")
        seen.add(digest)
for kind, place in last.values():
    if kind != "session.end":
        sys.exit(f"{place}: the end is missing behind it")
print(f"intact: {len(seen)} records")
