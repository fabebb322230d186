// Package walk goes through the tasks of a playbook as they are written, without hosts, rounds or values.
//
//	playbook ──▶ plays ──▶ tasks ──▶ VisitTask ─▶ VisitCondition, VisitTemplate (its keys)
//	   ▲                     ▲  │
//	   │ import_playbook     │  └──▶ include, role, preset, files of variables ──▶ VisitMissing, VisitUnnamed
//	   └─────────────────────┴────────── opened, each once at a place ◀──────────────┘
//
// It owns what leads from one task to others: search paths, what a role is made of, what its tasks have around them, and the budget for
// what multiplies. A visitor says what it makes of what is met, and never walks. The planner's own walk is another thing: it expands
// tasks into steps, for each host and round, by what variables come to.
package walk
