"""Processes and instances as our journal holds them, whichever engine carries them.

| what | where |
|---|---|
| which versions there are, and their plans | `definitions`, `bindings`, `plans` |
| reading instances, their data and their history | `instances` |
| waiting until an instance has come somewhere | `followers` |
| payloads across every crossing | `payloads`, `merge` |
| the form of a human task | `forms` |
"""
