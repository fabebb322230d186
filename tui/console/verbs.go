package console

// listVerbs returns what a console can do.
func (c *console) listVerbs() []verb {
	// The order is that of help: looking, deciding, running, stopping, what came of it, values, and the rest. Several may share a
	// beginning, but no two a word: lookUp prefers a whole word to a beginning, and asks when both could be meant.
	return []verb{
		{
			name: "show", takes: "[N]", does: "say what a step or a part of the plan is", predicts: true, do: c.view.showNode,
			more: "Without a number, the plan. A number by itself does the same: 2.1 is the first below the second.",
		},
		{
			name: "list", also: []string{"l"}, takes: "[N]", does: "list the plan, or a part of it, whole", predicts: true,
			do: c.view.listAll,
		},
		{name: "next", does: "go to what needs attention: failed, asking or not approved", predicts: true, do: c.view.goToAttention},
		{
			name: "find", also: []string{"f", "/"}, takes: "TEXT", does: "list what has TEXT in its name", predicts: true,
			do: c.view.findText,
		},
		{name: "more", also: []string{"m"}, does: "continue a list that stopped", do: c.sayMore},
		{name: "where", also: []string{"w", "."}, does: "say where the run is; so does an empty line", do: c.view.sayWhere},
		{name: "why", takes: "[N]", does: "say what a step is waiting for, or why it ended as it did", do: c.view.sayWhy},

		{
			name: "approve", also: []string{"a"}, takes: "all, safe or N...", does: "let steps run; runs nothing by itself", asks: true,
			do:   c.decisions.approveTyped,
			more: "safe is all except the steps that need confirmation. Approving a part of the plan does not confirm them either: give their own number, or all.",
		},
		{name: "unapprove", takes: "all or N...", does: "take approvals back", asks: true, do: c.decisions.unapproveSteps},
		{
			name: "skip", also: []string{"x", "exclude"}, takes: "[N...]", does: "exclude steps; if one has failed, continue without it",
			asks: true, starts: true, do: c.decisions.skipTyped,
		},
		{name: "restore", takes: "N...", does: "take a skip back", asks: true, do: c.decisions.restoreSteps},
		{
			name: "yes", also: []string{"y"}, does: "yes to what it stopped for: approve the step, or continue after a pause step",
			asks: true,
			do:   c.decisions.sayYes,
		},
		{name: "no", also: []string{"n"}, does: "no to it: exclude the step, or reject", asks: true, do: c.decisions.sayNo},

		{
			name: "run", also: []string{"continue", "c"}, does: "run, or continue, until something needs attention", asks: true,
			starts: true, do: c.control.continueRun,
			more: "It approves nothing: it stops at the first step that is not approved. After a failure it continues without the failed step.",
		},
		{
			name: "step", also: []string{"s"}, does: "run one step", asks: true, starts: true, do: c.control.stepOnce,
			more: "step and over approve what they run, except steps that need confirmation.",
		},
		{
			name: "over", also: []string{"o"}, takes: "[N]", does: "run all of the next step, or of the part N that begins with it",
			asks: true, starts: true, do: c.control.stepOver,
		},
		{
			name: "out", also: []string{"O"}, does: "run to the end of the part that the next step is in", asks: true, starts: true,
			do: c.control.stepOut,
		},
		{
			name: "until", also: []string{"u"}, takes: "N", does: "run until N is about to start", asks: true, starts: true,
			do: c.control.runUntil,
		},
		{
			name: "pause", also: []string{"p"}, does: "start nothing new; running steps finish first", asks: true, atOnce: true,
			do: c.control.pauseRun,
		},
		{
			name: "retry", also: []string{"r"}, takes: "[N or all]", does: "run failed steps again, and stay paused", asks: true,
			starts: true,
			do:     c.control.retryFailed,
			more:   "At the end, retry all continues: what was not run because of a failed step follows.",
		},
		{
			name: "accept", takes: "[N]", does: "accept what a step that drifted would do now, and try it again", asks: true,
			starts: true,
			do:     c.control.acceptDrifted,
		},
		{
			name: "rerun", takes: "N... [with]", does: "run done steps again, and stay paused", asks: true, starts: true,
			do:   c.control.rerunDone,
			more: "Only this runs a step again that succeeded. with also reruns the done steps that depend on it.",
		},
		{name: "keep", takes: "[N... or all]", does: "keep outdated steps: done with an earlier definition", asks: true, do: c.control.keepOutdated},
		{name: "mark", takes: "N...", does: "mark steps as done: failed or not started", asks: true, do: c.control.markDone},

		{
			name: "break", also: []string{"b"}, takes: "N [if CONDITION] [after COUNT] [log TEXT]", does: "stop before N", asks: true,
			do:   c.breakpoints.setBreak,
			more: "after COUNT lets it pass COUNT times first. log TEXT, a template, is said instead of stopping.",
		},
		{name: "breaks", does: "list the breakpoints", do: c.breakpoints.listBreaks},
		{name: "clear", takes: "all or N...", does: "take breakpoints away", asks: true, do: c.breakpoints.clearBreak},

		{
			name: "output", takes: "[N] [attempt K] [COUNT or all]", does: "say the last lines a step printed, 20 or COUNT",
			do: c.outputs.sayOutput,
		},
		{
			name: "diff", also: []string{"d"}, takes: "[N]", does: "say what a step changed, or would change", predicts: true,
			do: c.outputs.sayDiff,
		},
		{
			name: "vars", also: []string{"v"}, takes: "[N]", does: "list the values that a step uses, and where they come from",
			do: c.values.listVars,
		},
		{
			name: "print", takes: "EXPRESSION", does: "say what an expression is at the current step", do: c.watches.printOnce,
			more: "As in a condition of the playbook: print release, print r.rc == 0.",
		},
		{
			name: "watch", also: []string{"W"}, takes: "[EXPRESSION]",
			does: "say what an expression is at each pause; without one, list them now", do: c.watches.addWatch,
		},
		{name: "unwatch", takes: "EXPRESSION, number or all", does: "stop watching it", do: c.watches.removeWatch},
		{name: "events", takes: "[N]", does: "list what has happened", do: c.view.listEvents},
		{name: "follow", takes: "on or off", does: "say what steps print while they run", atOnce: true, do: c.outputs.followOutput},
		{name: "summary", does: "say the results so far", do: c.view.sumUp},

		{
			name: "edit", also: []string{"e", "fix"}, takes: "[NAME [of N]]",
			does: "list the values of a step, or change one of them, for this run only", asks: true, do: c.fixes.editValue,
			more: "NAME is a variable, an argument such as cmd (args.cmd), env.NAME or cwd, or its number in the list. edit NAME=VALUE asks nothing; edit rest NAME=VALUE is for the rest of the run, edit block NAME=VALUE for the part that the step is in. It runs nothing: retry does.",
		},
		{name: "set", takes: "NAME=VALUE", does: "the same, without a question", asks: true, do: c.fixes.setValue},
		{name: "overrides", does: "list the values that are overridden in this run", do: c.fixes.listOverrides},
		{name: "undo", takes: "[NAME or number]", does: "remove an override", asks: true, do: c.fixes.undoOverride},
		{
			name: "editor", also: []string{"E"}, takes: "[N]", does: "open the file of a step in $EDITOR, then plan again", asks: true,
			do: c.programs.openSource,
		},
		{name: "shell", also: []string{"!"}, takes: "[N]", does: "open a shell where a step runs", do: c.programs.openStepShell},

		{
			name: "help", also: []string{"h", "?"}, takes: "[COMMAND]", does: "list the commands, or say more of one", atOnce: true,
			do: c.commands.sayHelp,
		},
		{name: "quit", also: []string{"q", "exit", "stop"}, does: "quit; asks what to do with running steps", do: c.exit.askQuit},
	}
}
