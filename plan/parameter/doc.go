// Package parameter knows the types that parameters of presets may have, and brings values to them.
//
//	type, value ──Convert──▶ the value as one of that type, or that it is none
package parameter
