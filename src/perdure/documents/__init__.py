"""Documents: named evidence with immutable numbered versions, decided on by people and kept as long as it is needed.

| status of a version | becomes | when |
|---|---|---|
| pending | verified, rejected | somebody with the right decides on it |
| pending | superseded | a newer version arrives, or the document is superseded by another |
| pending, verified | expired | the timer of its validity is due, committed with the version |
| verified | rejected | the decision is taken back, with a reason |
| verified | superseded | a newer version is verified, or the document is superseded by another |
| rejected, expired, superseded | stays | |

The status of a document is that of its verified version, else of its newest one; a document without a version is
pending. Only the newest version can be decided on.

| what happens | what is left |
|---|---|
| a crash after the bytes of a blob came, before the commit | a blob that nothing refers to: collected later |
| a crash before the bytes of a blob were durable | a partial file that has no name: collected later |
| two people decide on one version at once | the first decision counts, the second is refused |
| a newer version arrives while somebody looks at an older one | the decision on the older one is refused |
| the bytes of a blob were changed on disk | the read is refused and `audit verify` names the blob |
"""
