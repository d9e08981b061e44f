"""Tells Kastor how far a training job is.

    python3 "$KASTOR_REPORT" steps=1200 batch=256

steps: optimizer steps so far, those before a restart included. batch: examples of one step, over
all pods. Only the pod of rank 0 tells; in the others this does nothing. Python 3 is all it needs.
"""

import json
import os
import ssl
import sys
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 10


def counts(arguments):
    found = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not value.isdecimal():
            raise ValueError(
                f"'{argument}' must be NAME=NUMBER, as in steps=1200 batch=256"
            )
        found[name] = int(value)
    return found


def send(body):
    authority = os.environ["KASTOR_CA_FILE"]
    trust = ssl.create_default_context(
        cafile=authority if os.path.exists(authority) else None
    )
    with open(os.environ["KASTOR_TOKEN_FILE"], encoding="ascii") as file:
        token = file.read().strip()
    request = urllib.request.Request(
        os.environ["KASTOR_REPORT_URL"],
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    # The operator is in the cluster: no proxy leads to it.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    )
    opener.open(request, timeout=TIMEOUT_SECONDS).close()


def main(arguments):
    if os.environ["KASTOR_RANK"] != "0":
        return None
    try:
        send(counts(arguments))
    except urllib.error.HTTPError as e:
        return f"KASTOR_REPORT: refused with {e.code}: {e.read(4096).decode(errors='replace')}"
    except (OSError, ValueError) as e:
        return f"KASTOR_REPORT: {e}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
