"""The one style sheet of a page: light and dark, on screen and on paper."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--ink:#1d2330;--soft:#5b6472;--page:#fff;--paper:#f5f7fa;--line:#d9dee6;--good:#15803d;
--bad:#b91c1c;--accent:#1d4ed8}
@media (prefers-color-scheme:dark){:root{--ink:#e2e6ec;--soft:#9aa4b2;--page:#12161c;--paper:#1a2029;--line:#2d3643;
--good:#4ade80;--bad:#f87171;--accent:#7aa7ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:2rem 1.25rem 4rem;background:var(--page);color:var(--ink);
font:15px/1.55 system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif}
h1{font-size:1.65rem;line-height:1.25;margin:.2rem 0 .6rem}
h2{font-size:1.15rem;margin:2.4rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
.kind{color:var(--soft);font-size:.8rem;letter-spacing:.06em;text-transform:uppercase;margin:0}
.summary{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:1rem 1.2rem}
.summary ul{margin:.2rem 0;padding-left:1.2rem}
.state{display:inline-block;border-radius:1rem;padding:.05rem .7rem;font-weight:600;border:1px solid currentColor}
.completed{color:var(--good)}.failed,.cancelled{color:var(--bad)}
.none{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.86rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);
overflow-wrap:break-word}
th{color:var(--soft);font-weight:600;white-space:nowrap}
code,pre{font:12px/1.5 ui-monospace,'SF Mono',Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.8rem;overflow-x:auto;
white-space:pre-wrap}
del{color:var(--bad)}ins{color:var(--good);text-decoration:none}
img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem}
summary{cursor:pointer;color:var(--accent)}
@media print{body{max-width:none;padding:0;font-size:11px}h2{break-after:avoid}tr,img{break-inside:avoid}
.wide{overflow:visible}details{display:block}}
""".replace("\n", "")
