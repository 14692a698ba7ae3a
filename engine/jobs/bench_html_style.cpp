#include "jobs/bench_html_style.h"

namespace tandem::jobs {

const std::string_view kBenchStyle = R"css(
:root {
  --paper: #fdfdfb; --ink: #1c2126; --soft: #5d666f; --rule: #dcdeda; --faint: #eceeea; --tint: #f4f5f2;
  --blue: #0072b2; --orange: #d55e00; --green: #00805d; --purple: #a94f8b; --yellow: #b27c00; --sky: #56b4e9;
  --bad: #b3261e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --paper: #15181b; --ink: #e7e8e4; --soft: #a0a8ae; --rule: #363c41; --faint: #262b2f; --tint: #1c2024;
    --blue: #56b4e9; --orange: #ee8a3c; --green: #2fbd90; --purple: #dd97bf; --yellow: #e6b422; --sky: #56b4e9;
    --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif;
}
main { max-width: 82rem; margin: 0 auto; padding: 3.5rem 1.25rem 5rem; }
h1 { font-size: 1rem; font-weight: 600; letter-spacing: .01em; margin: 0; }
h2 { font-size: 1.5rem; font-weight: 600; line-height: 1.25; letter-spacing: -.01em; margin: 5rem 0 .25rem;
     padding-top: 1.75rem; border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
h3 { font-size: 1rem; font-weight: 600; margin: 2.75rem 0 .5rem; }
p { margin: .5rem 0; max-width: 44rem; overflow-wrap: anywhere; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .2em; }
.soft { color: var(--soft); max-width: 60rem; }
.note { border-left: 3px solid var(--orange); background: var(--tint); padding: .6rem 1rem; margin: 1.5rem 0;
        max-width: 60rem; overflow-wrap: anywhere; }
.bad { color: var(--bad); font-weight: 600; }
.na { color: var(--soft); }

.verdicts { list-style: none; margin: 2.5rem 0 0; padding: 0; display: grid; gap: 2.25rem; }
.verdicts li { display: grid; grid-template-columns: 9.5rem 1fr; gap: .25rem 1.75rem; align-items: start; }
.times { font-size: 3.1rem; font-weight: 300; line-height: 1; letter-spacing: -.03em;
         font-variant-numeric: tabular-nums;
         text-align: right; }
.times small { display: block; margin-top: .5rem; font-size: .82rem; font-weight: 400; line-height: 1.35;
               letter-spacing: 0; color: var(--soft); }
.verdicts strong { display: block; font-weight: 600; overflow-wrap: anywhere; }
.verdicts p { margin: .15rem 0 0; }
.verdicts .says { font-size: 1.2rem; line-height: 1.5; }

.scroll { overflow-x: auto; margin: .25rem 0 2rem; }
.scroll:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem 0 .45rem 1.5rem; text-align: right; white-space: nowrap; vertical-align: baseline; }
th { font-weight: 400; }
thead th { color: var(--soft); font-size: .8rem; border-bottom: 1px solid var(--soft); vertical-align: bottom; }
tbody tr + tr > * { border-top: 1px solid var(--faint); }
th:first-child { text-align: left; padding-left: 0; padding-right: .25rem; position: sticky; left: 0;
                 background: var(--paper); }
tbody th { font-weight: 600; }
.text { text-align: left; }

dl { margin: 1rem 0 0; display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .5rem 1.75rem;
     max-width: 60rem; }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
details { margin: 1.5rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { font-size: .8rem; line-height: 1.5; background: var(--tint); padding: 1rem 1.25rem; white-space: pre-wrap;
      overflow-wrap: anywhere; }

.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 31rem), 1fr)); gap: 3rem;
           margin: 2.5rem 0 0; align-items: start; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption { margin-bottom: .9rem; line-height: 1.45; }
figcaption strong { display: block; font-weight: 600; overflow-wrap: anywhere; }
figcaption span { color: var(--soft); font-size: .875rem; }
svg { display: block; width: 100%; height: auto; overflow: visible;
      font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif;
      font-variant-numeric: tabular-nums; }
svg text { fill: var(--ink); stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; paint-order: stroke; }
svg .tick { fill: var(--soft); font-size: 12px; }
svg .strong { font-weight: 600; font-size: 13px; }
svg .label { font-size: 12.5px; }
svg .inside { stroke: none; }
.grid { stroke: var(--faint); stroke-width: 1; }
.split { stroke: var(--rule); stroke-width: 1; }
.mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3; }
.line { fill: none; stroke: currentColor; stroke-width: 1.1; stroke-linejoin: round; }
line.line, .thick { stroke-width: 2.2; }
.whisker { stroke: currentColor; stroke-width: 1.4; }
.bar, .dot { fill: currentColor; }
.m0 { color: var(--ink); } .m1 { color: var(--purple); } .m2 { color: var(--orange); }
.m3 { color: var(--blue); } .m4 { color: var(--green); }
line.m1, .thick.m1 { stroke-dasharray: 2 3; } line.m2, .thick.m2 { stroke-dasharray: 9 4; }
line.m4, .thick.m4 { stroke-dasharray: 9 3 2 3; } .whisker { stroke-dasharray: none; }
line.whisker { stroke-dasharray: none; }
.part, .event { stroke: var(--paper); stroke-width: 1; fill-opacity: .42; }
.busy { fill: var(--blue); } .wait-link { fill: var(--orange); } .wait-node { fill: var(--yellow); }
.wait-cpu { fill: var(--soft); }
.e0 { fill: var(--blue); } .e1 { fill: var(--yellow); } .e2 { fill: var(--green); } .e3 { fill: var(--purple); }

@media (max-width: 40rem) {
  main { padding: 2rem 1rem 3.5rem; }
  h2 { margin-top: 3.5rem; }
  .verdicts li { grid-template-columns: 1fr; }
  .times { text-align: left; margin-bottom: .5rem; }
  dl { grid-template-columns: 1fr; gap: .1rem; }
  dd { margin-bottom: .75rem; }
  tbody th { white-space: normal; max-width: 6.5rem; }
  svg .tick, svg .label, svg .strong { font-size: 14px; }
  svg .inside { font-size: 13px; }
}
@media print {
  main { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  h2 { margin-top: 2rem; break-after: avoid; }
  h3, figcaption { break-after: avoid; }
  :root { --paper: #fff; }
  .scroll { overflow: visible; }
  tr { break-inside: avoid; }
  table { font-size: 7pt; }
  th, td { padding-left: .7em; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1.5rem; }
  details::details-content { content-visibility: visible; display: block; }
}
)css";

}  // namespace tandem::jobs
