"""The script that makes a page's clock and chance those of the task, run in every frame before the page's own scripts.

`new Date()` stands still at the task's clock, so what a page shows is the same on every run. `Date.now()` starts there
and moves with the page's age: libraries measure durations by it, and an animation of theirs would never end on a
clock that stands still. Timers are left alone, Math.random is seeded in each document,
workers keep the machine's clock.
"""

from __future__ import annotations

import json

_SCRIPT = """
((clock, seed) => {
  const RealDate = Date, now = () => clock + Math.floor(performance.now());
  const still = {
    construct: (target, args, caller) => Reflect.construct(target, args.length ? args : [clock], caller),
    apply: () => new RealDate(clock).toString(),
    get: (target, key) => key === 'now' ? now : Reflect.get(target, key),
  };
  globalThis.Date = new Proxy(RealDate, still);
  RealDate.prototype.constructor = globalThis.Date;
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format').get;
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    configurable: true,
    get() { const bound = format.call(this); return (when = clock) => bound(when); },
  });
  const parts = Intl.DateTimeFormat.prototype.formatToParts;
  Intl.DateTimeFormat.prototype.formatToParts = function (when = clock) { return parts.call(this, when); };
  let state = seed >>> 0;
  Math.random = () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
})(%s, %s);
"""


def world_script(clock_s: float, seed: int) -> str:
    """The script for one session.

    Args:
        clock_s: the task's time in seconds since 1970.
        seed: of Math.random, the same in every document of the session.

    The generator is mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
    """
    return _SCRIPT % (json.dumps(int(clock_s * 1000)), json.dumps(seed & 0xFFFFFFFF))
