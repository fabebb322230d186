package planner

import (
	"sync"

	"moon/plan"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/planner/additions"
	"moon/plan/planner/bindings"
	"moon/plan/planner/compile"
	"moon/plan/planner/conceal"
	"moon/plan/planner/connect"
	"moon/plan/planner/content"
	"moon/plan/planner/defaults"
	"moon/plan/planner/items"
	"moon/plan/planner/known"
	"moon/plan/planner/library"
	"moon/plan/planner/literal"
	"moon/plan/planner/lookups"
	"moon/plan/planner/outline"
	"moon/plan/planner/override"
	"moon/plan/planner/policy"
	"moon/plan/planner/probe"
	"moon/plan/planner/problems"
	"moon/plan/planner/prompts"
	"moon/plan/planner/spare"
	"moon/plan/planner/standin"
	"moon/plan/planner/tags"
	"moon/plan/prior"
	"moon/plan/source"
	"moon/plan/vars"
	"moon/secret"
)

// ground is what all layers stand on: what is asked for, the plan that is made of it, and what is wrong with it.
type ground struct {
	*problems.Collector
	*outline.Outline
	*library.Library
	*compile.Compiler
	*known.Reader
	connector *connect.Connector
	asker     *prompts.Asker
	o         plan.Options
	plan      *plan.Plan
	secrets   *secret.Set // the plan's own
	disk      *source.Disk
	engine    *eval.Engine
	facts     *vars.FactUsage
}

// evaluator says what a value as written comes to at a place of the playbook, with the overrides of the run.
type evaluator struct {
	ground
	names     *vars.Globals
	last      *vars.Frame
	reach     *vars.Reach // of the last one
	overrides *override.List
	loops     *items.Reader
	bindings  *bindings.Maker
	moves     []prior.Move // what has another path than before
	policies  *policy.Policy
	tags      *tags.Tags
	leftOut   map[string]string // by path: the flag that leaves the step out
}

// variables makes the layers that frames are of: blocks and files of variables, parameters, items of loops.
type variables struct {
	evaluator
	layers     map[layerKey]*vars.Layer
	fileLayers map[fileKey]*vars.Layer
	taskLayers map[taskKey]*vars.Layer
}

// fleet is the hosts: those of the inventory and others, with their facts and the way to them.
type fleet struct {
	variables
	inventory *inventory.Inventory    // nil until something asks for a host
	onHosts   taskForm                // that of all tasks of plays
	asksHosts bool                    // a file has the name of the lookup that asks for them
	ofSteps   map[sceneOf]*vars.Scene // of the files of steps
	perHost   []*taskContext          // of the step with `hosts:` that is planned, one for each host
	unmatched []hostlessPlay
	besides   []string // the directories of the playbooks that have plays
	grouped   vars.Grouped
	here      *vars.Globals // of the machine that moon runs on
	machines  map[string]*plannedHost
	asking    *sync.Mutex // for those who ask for machines in a run
	past      *[]vars.PastInventory
	additions *additions.List // to the inventory, that only the run decides
	lookups   *lookups.Lookups
	leaves    map[string]string // hosts that the next plan excludes, with the reason why
}

// stepPlanner makes a step of a task.
type stepPlanner struct {
	fleet
	concealer *conceal.Concealer
	prober    *probe.Prober
	content   *content.Reader
	defaults  *defaults.Maker
	literals  *literal.Steps
	planned   func(c *taskContext, step int) // is given each step; may be nil

	spareStep    spare.One[plan.Step]
	spareContext spare.One[taskContext]
}

// playsState is what outlasts a play: roles, and the tasks that stand for what has none of its own.
type playsState struct {
	stepPlanner
	scenes     map[sceneKey]*vars.Scene
	roleParams map[taskKey]*vars.Layer
	standins   *standin.Tasks
}

// planner is the walk over a playbook. What it knows lies in layers, each of which knows those below it and nothing above:
//
//	ground ◀ evaluator ◀ variables ◀ fleet ◀ stepPlanner ◀ playsState ◀ planner
//
// A layer is the narrow argument of what is declared on it: what makes a layer of variables can report a mistake, and plans no step.
type planner struct {
	playsState
	policyOfOrphans string // as the playbook has it; "" where it says nothing
}
