// Package given reads the variables that the command line gives.
//
//	--vars-file, -e @file, -e '{…}' ──library──▶ map ──▶ Layer
//	-e name=value ──────────────────────────────────────▶ Layer
//
// They are data: nothing in them is rendered.
package given
