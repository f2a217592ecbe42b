"""The kernel: command in, one commit, effects out; the same way for every machine.

| what happens | what the kernel does |
|---|---|
| commands for one aggregate while it commits | wait, then fold into one unit |
| the row version moved | loads again and decides again, alone |
| a key was taken (idempotency, message id, correlation) | tells the caller whose it is; nothing written |
| the fence was lost | nothing written; the process must take a new lease |
| a stored row fails its check | sets that aggregate aside, names it; others go on |
| the answer of a commit was lost | reads the record's hash back and settles |
"""
