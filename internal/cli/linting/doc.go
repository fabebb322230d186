// Package linting is the command `moon lint`.
//
//	flags, playbooks ──▶ plan/lint ──▶ findings as text, JSON, for GitHub, as SARIF ── files that were fixed
package linting
