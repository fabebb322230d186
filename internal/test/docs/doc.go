// Package docs runs what the documentation says: its examples, tables, links and promises.
//
//	docs/*.md ──fences, tables──▶ moon and its packages ──▶ compared with the page, which UPDATE=1 rewrites
package docs
