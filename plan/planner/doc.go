// Package planner makes a plan of a playbook: it walks through the tasks, host by host and round by round, and writes a step for each.
//
//	Options ──New──▶ planner ──walk──▶ plan.Plan: scopes, steps, needs, digest
//	                    │                 └──▶ diag.List: what is wrong, with its place
//	ground ◀ evaluator ◀ variables ◀ fleet ◀ stepPlanner ◀ playsState ◀ planner
//	          values at   layers of   hosts   one task on    roles and    planTasks,
//	          a place     variables           one host       handlers     planTasksForHosts
//
// The components that the layers ask are packages below it, each with a narrow constructor:
//
//	problems  mistakes, each said once          library  files, each read once      compile  keys of a task, read once
//	outline   scopes, paths, order              known    values the plan must know  lookups  what templates look up
//	connect   the way to a host, who to become  override values given for the run   preset   parameters of presets
//	conceal   secrets, digests of steps         additions hosts that steps may add     tags     --tags and --skip-tags
//	probe     what steps only look at           prompts   variables that are typed     choice   selectors of steps
//	pointless keys without effect               varsdir   directories of variables       given    --vars-file and -e
//	unmatched plays without hosts               policy    what decides about a result
//	items     what loops run over               bindings  layers of variables as written    content  files that steps copy
//	literal   steps of the plan before          defaults arguments of module_defaults      standin tasks for what has none
//
// It is a stack of layers (layers.go), each of which can reach only those below it. What it has made belongs to plan: binding a step to
// the values of a run, and keeping what a plan was made from, work without the planner.
package planner
