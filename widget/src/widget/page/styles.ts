// The look: a well-made book. One accent, a serif for the book's words, a sans for controls.

const LIGHT = `--ink:#1d1c1a;--paper:#fdfcf9;--raised:#f5f2ea;--rule:#d9d4c7;--edge:#857e70;--quiet:#5c574d;--soft:#57524a;--accent:var(--bythebook-accent,#8a3b12);--on-accent:#fff;--mark:#ffe9a8;--lit:#fdf0c4;--code-key:#7a2e8e;--code-string:#1f6b33;--code-number:#8f4700;--code-note:#645f55;--code-name:#1d4f91;--shade:rgb(40 30 10/.18);color-scheme:light`;
const DARK = `--ink:#e8e4da;--paper:#191816;--raised:#23211d;--rule:#3b3831;--edge:#8a8373;--quiet:#b0a999;--soft:#b9b2a3;--accent:var(--bythebook-accent-dark,#f0a878);--on-accent:#191816;--mark:#5c4a10;--lit:#3a3115;--code-key:#d9abe9;--code-string:#a3d39c;--code-number:#f0b27d;--code-note:#a9a293;--code-name:#a3c8f2;--shade:rgb(0 0 0/.5);color-scheme:dark`;

export const STYLES = `
:host{all:initial;display:contents}
.root{${LIGHT};--serif:Charter,"Iowan Old Style","Noto Serif",Georgia,serif;--sans:system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;--mono:ui-monospace,"Cascadia Mono","Noto Sans Mono",Menlo,monospace}
.root[data-theme=dark]{${DARK}}
:host([mode=inline]){display:block;height:100%}
:host([hidden]){display:none}
*,*::before,*::after{box-sizing:border-box}
[hidden]{display:none!important}
.root{font:400 15px/1.5 var(--sans);color:var(--ink);text-align:start;-webkit-text-size-adjust:100%}
.inline.root{height:100%}
button,textarea{font:inherit;color:inherit;letter-spacing:inherit}
button{cursor:pointer;-webkit-tap-highlight-color:transparent;touch-action:manipulation}
h2,h3,h4,p,ul{margin:0;padding:0;font:inherit}
a{color:var(--accent);text-underline-offset:.15em}
:focus{outline:none}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.icon{width:1.15em;height:1.15em;flex:none;fill:none;stroke:currentColor;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round;vertical-align:-.2em}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}

.launcher,.about{position:fixed;z-index:2147483000;display:flex;align-items:center;gap:.5em;border:1px solid transparent;background:var(--accent);color:var(--on-accent);font-weight:500;box-shadow:0 2px 12px var(--shade)}
.launcher{inset-block-end:max(1.25rem,env(safe-area-inset-bottom));inset-inline-end:1.25rem;min-height:44px;padding:.55rem 1rem;border-radius:24px}
.root[data-corner=start] .launcher{inset-inline:1.25rem auto}
.about{left:0;top:0;min-height:32px;padding:.2rem .7rem;border-radius:6px;font-size:14px;white-space:nowrap}
.too-long{max-width:18rem;background:var(--raised);border-color:var(--edge);color:var(--ink);font-weight:400;white-space:normal;pointer-events:none}
.about kbd{font:500 12px/1 var(--sans);border:1px solid currentColor;border-radius:3px;padding:.15em .35em}
@media (pointer:coarse){.about{min-height:44px}.about kbd{display:none}}
.launcher:focus-visible,.about:focus-visible{outline-color:var(--ink);outline-offset:3px}
@media (hover:hover){.launcher:hover,.about:hover,.primary:hover,.send:hover{filter:brightness(1.12)}}

.panel{container-type:inline-size;display:flex;flex-direction:column;background:var(--paper);min-height:0}
.floating .panel{position:fixed;z-index:2147483001;inset-block:0;inset-inline-end:0;width:min(27rem,100vw);border-inline-start:1px solid var(--rule);box-shadow:0 0 32px var(--shade)}
.floating[data-corner=start] .panel{inset-inline:0 auto;border-inline:0 1px;border-inline-end:1px solid var(--rule)}
@media (min-width:1280px){.floating .panel:not(.narrow){width:37rem}}
.floating .panel.wide{width:min(37rem,100vw)}
@media (max-width:599px){.head .width{display:none}.floating .panel,.floating .panel.wide{inset-block-start:3.5rem;width:100vw;border:0;border-block-start:1px solid var(--rule);border-radius:12px 12px 0 0}}
.inline .panel{height:100%;min-height:18rem}
@media (prefers-reduced-motion:no-preference){.floating .panel{animation:come .16s ease-out}.about{transition:background-color .15s}}
@keyframes come{from{opacity:0;translate:0 .5rem}}

.head{display:flex;align-items:center;gap:.25rem;padding:.6rem .75rem .6rem 1.25rem;padding-inline:1.25rem .75rem;border-block-end:1px solid var(--rule)}
.head h2{flex:1;unicode-bidi:isolate;font:600 1rem/1.4 var(--sans);overflow-wrap:anywhere}
.icon-button{display:inline-grid;place-items:center;min-width:36px;min-height:36px;padding:.4rem;border:0;border-radius:6px;background:transparent;color:var(--quiet);font-size:15px}
.icon-button[aria-pressed=true]{color:var(--accent);background:var(--raised);box-shadow:inset 0 0 0 1px var(--accent)}
@media (hover:hover){.icon-button:hover,.button:hover{background:var(--raised);color:var(--ink)}}

.turns{flex:1;min-height:0;overflow-y:auto;overscroll-behavior:contain;padding:0 1.25rem 1.25rem}
.turns:focus-visible{outline-offset:-3px}
.hint p{margin:0}
.suggestions{list-style:none;margin:1rem 0 0;padding:0;display:grid;gap:.5rem}
.suggestions button{display:block;width:100%;min-height:44px;padding:.55rem .8rem;border:1px solid var(--rule);border-radius:8px;background:transparent;color:var(--ink);font:inherit;line-height:1.4;text-align:start;cursor:pointer}
@media (hover:hover){.suggestions button:hover{border-color:var(--accent);color:var(--accent)}}
.hint,.notice{margin-block:1.25rem;color:var(--quiet);max-width:38em;text-wrap:pretty}
.turn{padding-block:1.25rem .5rem}.turn:last-child{min-height:100%}
.turn:not(:last-child){padding-block-end:1.5rem;border-block-end:1px solid var(--rule);margin-block-end:2px}
.question{font:600 1.05rem/1.4 var(--serif);overflow-wrap:anywhere;white-space:pre-wrap}
.badge{margin-block-start:.35rem;padding-inline-start:.6rem;border-inline-start:3px solid var(--mark);font-size:13px;color:var(--quiet);overflow-wrap:anywhere}

.card{margin-block:.85rem;padding-inline-start:1rem}
.kind{display:flex;align-items:start;gap:.4em;font:600 12.5px/1.5 var(--sans);letter-spacing:.02em;color:var(--quiet)}
.kind .icon{margin-block-start:.175em}
.looking .kind,.stopped .kind{font-weight:400;font-size:14px;letter-spacing:0}
.looking,.stopped{border-inline-start:3px solid var(--rule)}
.answer{border-inline-start:3px solid var(--accent)}
.caution{border-inline-start:3px dashed var(--accent)}
.refused{border:1px solid var(--edge);border-inline-start:6px double var(--edge);padding:.75rem 1rem;border-radius:2px}
.failed{border:2px dotted var(--edge);padding:.75rem 1rem;border-radius:8px;background:var(--raised)}
.refused .kind,.failed .kind{font-size:1rem;color:var(--ink);letter-spacing:0}
.opening{display:grid;gap:.5rem;justify-items:start}
.opening p{margin-block-start:.35rem;max-width:40em;text-wrap:pretty}
.caution .opening p{font-style:italic;color:var(--quiet)}
.refused .opening,.failed .opening{margin-block-end:.35rem}

.body{font:400 1.0625rem/1.62 var(--serif);overflow-wrap:anywhere}
.excerpt{margin-block:.5rem .75rem}
.excerpt+.excerpt{margin-block-start:1.1rem;padding-block-start:.9rem;border-block-start:1px solid var(--rule)}
.text{max-width:40em}.text>*{margin-block:.55rem}.text>:first-child{margin-block-start:0}.text>:last-child{margin-block-end:0}
.kept{white-space:nowrap}
.prose,.whole :is(p,li){white-space:pre-line}
.context,.whole{color:var(--soft)}.key,mark{color:var(--ink)}
.body:has(.context) .prose .key,:is(ul,ol):has(.context) .key>span:last-child,.rows:has(td):has(.context td) .key td,mark{text-decoration:underline var(--mark) .45em;text-underline-offset:-.28em;text-decoration-skip-ink:none}
.text ul,.text ol{margin-inline:0;padding-inline-start:1.6rem}.text li+li{margin-block-start:.3rem}
.text .marked{list-style:none;margin-inline-start:-1.6rem;padding-inline-start:1.6rem;text-indent:-1.6rem}
.marked .mark{display:inline-block;min-width:1.6rem;text-indent:0}
.text li::marker{color:var(--quiet);font:500 .85em var(--sans);font-variant-numeric:tabular-nums}
.cut{color:var(--quiet)}li.cut{list-style:none}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.92em}
th,td{border-block-end:1px solid var(--rule);padding:.35rem .9rem .35rem 0;padding-inline:0 .9rem;text-align:start;vertical-align:top;overflow-wrap:normal}
th{font:600 13px/1.5 var(--sans)}
figure{margin-inline:0;border:1px solid var(--rule);border-radius:6px;background:var(--raised);overflow:hidden}
figure.key{border-color:var(--edge)}
figcaption{display:flex;align-items:center;gap:.25rem;min-height:32px;padding-inline:.85rem .25rem;border-block-end:1px solid var(--rule);font:500 12px/1.5 var(--sans);color:var(--quiet)}
.language{margin-inline-end:auto}
.formula figcaption{border:0;min-height:0}
.copy-code{display:inline-grid;place-items:center;min-width:28px;min-height:28px;padding:.25rem .4rem;border:0;border-radius:4px;background:transparent;color:var(--quiet);font:500 12px/1.5 var(--sans)}
@media (hover:hover){.copy-code:hover{color:var(--ink)}}
figure .cut{padding:0 .85rem .4rem;font:13px/1.5 var(--mono)}
pre{margin:0;overflow-x:auto;padding:.65rem .85rem;font:13px/1.5 var(--mono);direction:ltr;text-align:left;tab-size:4}
pre:focus-visible,.scroll:focus-visible{outline-offset:-3px}
pre code{font:inherit}
.numeral{display:inline-block;position:relative;min-width:24px;height:24px;margin-block:-6px;margin-inline:0 -13px;padding-inline-start:2px;border-radius:4px;color:var(--accent);font:600 12px/18px var(--sans);text-align:start;text-indent:0;text-decoration:none;vertical-align:.35em;font-variant-numeric:lining-nums}
.numeral+.numeral{margin-inline-start:14px}
figcaption .numeral{margin:0;line-height:24px;text-align:center;vertical-align:0}
@media (hover:hover){.numeral:hover{text-decoration:underline;text-underline-offset:2px}}

mark{background:none}mark:has(math){text-decoration:none}
:is(.body:has(.context) .key,mark) math[display=inline]{box-shadow:inset 0 -.5em var(--mark)}mark math[display=block]{width:fit-content;margin-inline:auto;background:var(--mark)}
.body :is(:not(pre)>code,kbd){padding:.1em .3em;border-radius:3px;background:var(--raised);font:.86em/1 var(--mono)}.body kbd{border:1px solid var(--rule)}a code{color:inherit}
math{font-size:1.06em}math[display=inline]{white-space:nowrap}
.drawn{display:block;overflow-x:auto;padding-block:.3rem;white-space:normal}figure .drawn{padding:.5rem .85rem}
.b-m-right{text-align:right;justify-items:end}.b-m-left{text-align:left;justify-items:start}.b-m-close-left{padding-left:0}.b-m-close-right{padding-right:0}
.b-m-rule-left{border-left:1px solid}.b-m-rule-right{border-right:1px solid}.b-m-rule-top{border-top:1px solid}.b-m-rule-bottom{border-bottom:1px solid}
:is(.b-k,.b-kd,.b-kn,.b-kr,.b-kt,.b-kc,.b-kp,.b-ow,.b-nt,.b-gd){color:var(--code-key)}
:is(.b-s,.b-s1,.b-s2,.b-sa,.b-sb,.b-sc,.b-sd,.b-se,.b-sh,.b-si,.b-sr,.b-ss,.b-sx,.b-dl,.b-gi){color:var(--code-string)}
:is(.b-m,.b-mi,.b-mf,.b-mh,.b-mb,.b-mo,.b-il,.b-no,.b-ni){color:var(--code-number)}
:is(.b-c,.b-c1,.b-cm,.b-ch,.b-cs,.b-cp,.b-cpf,.b-gp,.b-go){color:var(--code-note)}
:is(.b-nf,.b-fm,.b-nc,.b-nb,.b-bp,.b-nn,.b-nd,.b-na,.b-nv,.b-vc,.b-vg,.b-vi,.b-ne,.b-nl){color:var(--code-name)}
.b-hll{display:inline-block;min-width:100%;background:var(--lit)}
.b-noteref{font-size:.75em;line-height:0}.b-note,.b-caption,.b-alt{font-size:.9em;color:var(--quiet)}.b-heading{font-weight:600;color:var(--ink)}
.b-table{overflow-x:auto}.b-code pre{border:1px solid var(--rule);border-radius:6px;background:var(--raised)}
.whole blockquote,.b-admonition{margin-inline:0;padding:.1rem .85rem;border-inline-start:3px solid var(--rule)}.b-admonition{background:var(--raised)}.b-admonition-title{font:600 13px/1.5 var(--sans)}
:is(blockquote,.b-admonition)>*+*{margin-block-start:.4rem}
.whole img{max-width:100%;height:auto;border-radius:4px;background:#fff}.whole figure{border:0;background:none}.b-alt summary::after{content:attr(aria-label)}.b-right{text-align:right}.b-center{text-align:center}

.note{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .75rem;margin-block-end:.3rem;font:400 13px/1.45 var(--sans)}
.own .sources{margin-block-start:.6rem;padding-block-start:.4rem;border-block-start:1px solid var(--rule)}
.quoted{position:relative;flex:1 0 100%;margin-block:.3rem .15rem;padding-inline-start:1.25rem;font:400 .92rem/1.5 var(--serif)}
.number{position:absolute;inset-inline-start:0;inset-block-start:.1rem;color:var(--accent);font:600 12px/1.5 var(--sans)}
q{white-space:pre-line;quotes:"“" "”"}
.place{font:500 13px/1.45 var(--sans);color:var(--ink);text-wrap:pretty}
.within{font-weight:400;color:var(--quiet)}.within::after{content:" · "}
.read{display:inline-block;padding-block:.2rem;min-height:24px;font:500 13px/1.4 var(--sans)}
.more{display:block;min-height:28px;margin-block-start:.25rem;padding:.2rem 0;border:0;background:transparent;color:var(--quiet);font:500 13px/1.4 var(--sans);text-align:start;text-decoration:underline;text-underline-offset:.2em;text-decoration-color:var(--rule)}
@media (hover:hover){.more:hover{color:var(--ink);text-decoration-color:currentColor}}
@container (min-width:33rem){
.excerpt{display:grid;grid-template-columns:minmax(0,1fr) 11rem;column-gap:1.5rem;align-items:start}
.text,.more{grid-column:1}
.sources,.own .sources{grid-column:2;grid-row:1;margin-block-start:.3rem;padding:0;padding-inline-start:.85rem;border:0;border-inline-start:1px solid var(--rule)}
.note{display:block}.note+.note{margin-block-start:.8rem}
.note .place{display:block;font-size:12.5px}.within{display:block}.within::after{content:none}
.quoted{font-size:.84rem;line-height:1.45}
.quoted q{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:5;overflow:hidden}
}

.foot{font-size:13.5px;color:var(--quiet)}
.confidence,.broken-off{margin-block-start:.6rem}
.broken-off{padding:.5rem .75rem;border:2px dotted var(--edge);border-radius:8px;color:var(--ink)}
.broken-off .icon{margin-inline-end:.4em}
.actions{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem;margin-block-start:.35rem}
.answer .actions,.caution .actions{margin-inline-start:-.5rem}
.forms{position:relative}.forms summary{min-height:36px;padding:.45rem .6rem;border-radius:6px;font-size:13px;cursor:pointer}
.forms span{display:flex;flex-wrap:wrap;gap:.3rem;padding:.2rem .5rem .3rem}.forms[open]{flex:1 0 100%;order:1}.forms .button{min-height:32px;padding:.2rem .7rem;font-size:13px}
.status{padding-inline-start:.5rem}
.button{min-height:36px;padding:.35rem .85rem;border:1px solid var(--edge);border-radius:6px;background:transparent;color:var(--ink);font-size:14px;text-align:start}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:500}
@media (hover:hover){.primary:hover{background:var(--accent);color:var(--on-accent)}}

.nearest{margin-block-start:.85rem;font-size:14px}
.nearest .label{font-weight:600;font-size:12.5px;color:var(--quiet)}
.nearest summary{width:fit-content;padding-block:.2rem;min-height:24px;color:var(--quiet);font-size:13.5px;cursor:pointer}
.nearest ul{display:grid;gap:.55rem;margin-block-start:.4rem;list-style:none}
.nearest a,.nearest li>span:first-child{display:inline-block;min-height:24px;font:500 .98rem/1.4 var(--serif);overflow-wrap:anywhere}
.chapter{display:block;font-size:12.5px;color:var(--quiet)}
.line{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;color:var(--quiet);overflow-wrap:anywhere}

.composer{display:grid;gap:.5rem;padding:.75rem 1.25rem max(.9rem,env(safe-area-inset-bottom));border-block-start:1px solid var(--rule)}
.chip{display:grid;grid-template-columns:minmax(0,1fr) auto;align-items:center;gap:.25rem .5rem;padding:.4rem .5rem .5rem .75rem;padding-inline:.75rem .4rem;border-inline-start:3px solid var(--mark);border-radius:4px;background:var(--raised);font-size:13.5px}
.chip .said{overflow-wrap:anywhere;font-family:var(--serif)}
.scopes{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.3rem;align-items:center}
.scopes span{color:var(--quiet);margin-inline-end:.2rem}
.scopes button{min-height:30px;padding:.1rem .65rem;border:1px solid var(--edge);border-radius:15px;background:transparent;font-size:13px}
.scopes [aria-pressed=true]{background:var(--ink);border-color:var(--ink);color:var(--paper)}
.field{display:grid;grid-template-columns:minmax(0,1fr) auto;align-items:end;border:1px solid var(--edge);border-radius:8px;background:var(--paper)}
.field:focus-within{outline:3px solid var(--accent);outline-offset:1px}
textarea{width:100%;min-height:44px;max-height:9rem;padding:.6rem .75rem;border:0;outline:0!important;background:transparent;font-size:16px;line-height:1.45;resize:none;field-sizing:content}
textarea::placeholder{color:var(--quiet);opacity:1}
.send{display:grid;place-items:center;width:36px;height:36px;margin:4px;border:0;border-radius:6px;background:var(--accent);color:var(--on-accent)}
@media (forced-colors:active){.launcher,.about,.send,.primary{border:1px solid ButtonText}.panel{border:1px solid CanvasText}}
@media print{:host{display:none!important}}
`;

/** Of the page, not of the widget: keeps what was selected visible while the question is typed. */
export const PAGE_STYLES = "::highlight(bythebook-selection){background-color:#ffe08a;color:#1d1c1a}";
