// Package html writes a run as one page that needs nothing else: the tree of its steps, when each ran, what it printed and changed.
//
//	reading.Reading ──▶ page ──▶ head, summary, failures, steps, times ──▶ one file
//	style.css · script.js ───────────────────┘
//
// The page is whole without its script, which only searches, filters and folds. Nothing in it is fetched, and a policy in its head says so:
// of a text that got through unescaped nothing would run either. A large run is cut at bounds, and the page says what is not in it.
package html
