// Package gates puts what decides whether a task is there at all before its own conditions.
//
//	steps that decide: an include, meta: end_host, … ──Conditions──▶ the first conditions of what is behind them
package gates
