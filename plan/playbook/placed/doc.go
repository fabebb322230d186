// Package placed reads JSON as the YAML parser reads YAML: to nodes with places. It knows neither files nor what a document is for.
//
//	a file of JSON ──────────▶ Read ────────┐
//	                                        ├──▶ nodes, each with its line and column
//	the answer of a plugin ──▶ ReadAnswer ──┘   of an answer those in the file that the plugin has read
package placed
