"""Tasks in task channels: shown outside as cards, answered there or here, whichever comes first.

| a task | its card |
|---|---|
| opens, and a channel wants it | is put, its number kept in the data as `<element>_issue_number` |
| is reassigned or escalated, or what it shows changes | is made as the task is now |
| is answered on its card | is closed by the platform |
| ends in any other way | is closed, and says how |

| a word on a card | what becomes of it |
|---|---|
| of an account that is known, on what is shown now | the answer of that person, by the rules of the task |
| the same again, or late | nothing: the first answer has counted |
| of an account that nobody knows, or that may not answer | taken away, with the reason |
| on a text that has changed since, or that somebody has edited | taken away; the card is made as the task is now |
| of somebody else than the message says, which may be old | nothing: the channel tells whose word it is now |
| beside another word | the one that was said first counts |

| stopped | what happens then |
|---|---|
| before a card was put | the call that puts it is an effect: it runs again |
| after it was put, before its number was kept | found by its mark: no second one is put |
| after the answer counted, before the card was closed | the feed tells of the answer: it is closed |
| while the outside is away | calls try again with growing pauses; what people said meanwhile is read by the next look |

A mark names the task and the hash of what was shown, with a code made from the secret of the channel: nobody makes one
for another task, and a copy on another card is not the card whose number is kept.
"""
