"""The fingerprint of a plan's content, which tells whether the file was damaged or edited.

It is XXH64 of the canonical form: one line without blanks, members sorted by key.
"""

import json

PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
          0x27D4EB2F165667C5)
MASK = 0xFFFFFFFFFFFFFFFF


def of_content(document):
    """That of a whole plan, which leaves itself out."""
    fingerprints = {key: value for key, value in document.get("fingerprints", {}).items()
                    if key != "content"}
    text = canonical({**document, "fingerprints": fingerprints})
    return f"xxh64:{xxh64(text.encode()):016x}"


def canonical(value):
    return json.dumps(whole(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def whole(value):
    """The same with integers for doubles that are whole numbers."""
    if isinstance(value, dict):
        return {key: whole(member) for key, member in value.items()}
    if isinstance(value, list):
        return [whole(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def turned(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def mixed(lane, word):
    return turned((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """XXH64 with seed 0 (Collet's specification, version 0.1.1)."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        for at in range(0, size - 31, 32):
            for i in range(4):
                word = int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little")
                lanes[i] = mixed(lanes[i], word)
        at += 32
        state = sum(turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            state = ((state ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        state = PRIMES[4]
    return finished((state + size) & MASK, data[at:])


def finished(state, rest):
    """Takes the last bytes, fewer than 32, and spreads all bits."""
    while len(rest) >= 8:
        state ^= mixed(0, int.from_bytes(rest[:8], "little"))
        state, rest = (turned(state, 27) * PRIMES[0] + PRIMES[3]) & MASK, rest[8:]
    if len(rest) >= 4:
        state ^= int.from_bytes(rest[:4], "little") * PRIMES[0] & MASK
        state, rest = (turned(state, 23) * PRIMES[1] + PRIMES[2]) & MASK, rest[4:]
    for byte in rest:
        state = turned(state ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    state = (state ^ state >> 33) * PRIMES[1] & MASK
    state = (state ^ state >> 29) * PRIMES[2] & MASK
    return state ^ state >> 32
