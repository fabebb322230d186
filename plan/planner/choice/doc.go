// Package choice says which steps of a plan a user has chosen by their ids, names and places.
//
//	--start-at, --only, --skip ──Exclude──▶ the steps that are not planned, each with the flag that excludes it
package choice
