package main

// attack is one way to attack a promise, with the tests that do it.
type attack struct {
	row    string // of docs/reliability.md
	name   string // as the tests say it
	figure int    // the fewest tries that show something
	kind   string // for the sums
	tests  string // package:test, with a space between two; "" for every fuzz target there is
}

// kinds are the sums at the end of the table, each with what has been done to moon from outside before.
var kinds = []struct {
	name   string
	figure int
}{{"kills", 1210}, {"mutated inputs", 2650}, {"race rounds", 17_900}, {"injected faults", 255}}

const (
	kill     = "kills"
	mutation = "mutated inputs"
	race     = "race rounds"
	fault    = "injected faults"
	other    = ""
)

// attacks is every attack, in the order of docs/reliability.md. A test holds that each test is there, and says that it tries it.
var attacks = []attack{
	{"R1", "journals cut at every byte", 20_000, other, "./engine/journal:TestTornTail"},
	{"R2", "journals with one bit flipped", 20_000, mutation, "./engine/journal:TestBitRot"},
	{"R3", "kills at random moments", 600, kill, "./internal/test/crash:TestKillAtRandom"},
	{"R3", "kills while steps of another user run", 200, kill, "./internal/test/fleet:TestKillBecome"},
	{"R3", "kills while a machine is made and configured", 40, kill, "./internal/test/fleet:TestKillAdded"},
	{"R4", "deaths after each change of a file, start and end", 700, kill, "./internal/test/crash:TestDieAtEveryPoint"},
	{"R4", "deaths while something is removed", 340, kill, "./internal/test/crash:TestDieRemoving"},
	{"R4", "random histories", 300, other, "./internal/test/crash:TestHistories"},
	{"R5", "states after a loss of power", 5000, other, "./engine:TestPowerLoss"},
	{"R5", "changes of files that fail", 40, fault, "./engine:TestFailingDisk"},
	{"R5", "reads that fail", 215, fault, "./internal/test/crash:TestFaultRead"},
	{"R5", "calls of the system that fail", 280, fault, "./internal/test/crash:TestInjectedFaults"},
	{"R6", "simulated schedules", 10_000, other, "./engine/state:TestRandomRuns"},
	{"R6", "random sessions with what was approved", 2000, other, "./engine:TestPromise"},
	{"R6", "plans that grow", 3000, other, "./plan:TestGrownPlan"},
	{"R6", "runs that grow", 240, other, "./internal/test/script:TestGrownRun"},
	{"R7", "looks at every edge, against the counters", 100_000, other, "./engine/state:TestRandomRuns"},
	{"R8", "prefixes of journals, folded", 30_000, other, "./engine/state:TestRandomRuns"},
	{"R9", "fuzzed inputs", 200_000, mutation, ""},
	{"R10", "bombs", 45, other, "./plan:TestBombs ./plan/playbook:TestBombs ./config/yamldoc:TestBounds"},
	{"R10", "hostile repositories, by command", 450, other, "./internal/test/hostile:TestHostileRepositories"},
	{"R11", "interrupts of steps whose children ignore them", 200, other, "./exec:TestNobodySurvives"},
	{"R11", "escapes from the process group", 5, other, "./exec:TestEscapees"},
	{"R11", "signals while a program is asked", 32, other, "./internal/test/signals:TestEndWhilePlanning"},
	{"R12", "kills while steps have children", 200, kill, "./internal/test/crash:TestKilledMoon"},
	{"R12", "processes started while threads end", 10_000, other, "./exec:TestThreadsStay"},
	{"R13", "floods of output", 6, other, "./internal/test/hostile:TestFloods ./internal/test/hostile:TestSlowDisk ./internal/test/hostile:TestScreenInAFlood"},
	{
		"R14", "readers that sleep, go away or lie", 12, other,
		"./internal/test/screen:TestSleepingReader ./internal/test/screen:TestReaderGone ./internal/test/screen:TestStoppedTerminal ./engine:TestBadClients",
	},
	{"R14", "hostile hosts", 40, other, "./internal/test/hostile:TestHostileHosts"},
	{
		"R15", "ends of the TUI and of what has its terminal", 35, other,
		"./internal/test/screen:TestEveryEnd ./internal/test/screen:TestTerminalGoes ./internal/test/screen:TestSuspend ./internal/test/screen:TestStopped ./internal/test/screen:TestNoShellToSuspendTo ./internal/test/screen:TestEditorCrashes ./internal/test/screen:TestFullScreenProgram ./internal/test/screen:TestOneHasTheTerminal ./internal/test/screen:TestInterruptInteractive ./internal/test/screen:TestEndInteractive ./tui:TestPanicRestoresTheTerminal",
	},
	{
		"R15", "second signals where output is stuck", 16, other,
		"./internal/test/signals:TestTwoSignals ./internal/test/signals:TestSignalsOnFrozenTerminal ./internal/test/signals:TestTwoSignalsInLines",
	},
	{"R15", "signals at the end of a run whose output is stuck", 32, other, "./internal/test/signals:TestSignalAtFrozenOutput"},
	{"R15", "signals by phase and front end", 80, other, "./internal/test/signals:TestSignalsInPhases"},
	{"R16", "pieces of output by pipe and by terminal", 9001, other, "./internal/test/screen:TestPipesAndTerminal"},
	{"R17", "secrets cut into pieces", 100_000, other, "./secret:TestEveryCut"},
	{"R17", "places searched for secrets", 300, other, "./internal/test/hostile:TestNoSecretAnywhere"},
	{"R18", "control sequences through views", 500, other, "./internal/test/hostile:TestCorpus"},
	{"R19", "races for each part of a path", 17_900, race, "./exec/action:TestRaces"},
	{"R19", "trusted plugins swapped", 150, race, "./internal/test/hostile:TestRacePluginSwapped"},
	{"R19", "kept agents of hosts swapped", 120, race, "./internal/test/fleet:TestRaceKeptAgent"},
	{"R19", "files written in front of another user", 4000, race, "./exec/action:TestNobodyReadsAhead"},
	{"R20", "hostile archives", 200, race, "./exec/action:TestUnarchiveRefuses ./exec/action:TestUnarchiveRacingLinks"},
	{"R21", "modes of what is stored", 60, other, "./internal/test/hostile:TestModes"},
	{"R22", "mutated plan files", 10_000, mutation, "./engine/planfile:TestMutations"},
	{"R23", "jumps of the clock by a day", 4, other, "./engine:TestClockJumps"},
	{"R24", "moons that want a run that is taken", 100, other, "./internal/test/crash:TestTwoMoons"},
	{"R24", "moons that resume one run at the same time", 100, other, "./internal/test/crash:TestTwoResume"},
	{"R25", "mutated files", 2650, mutation, "./internal/test/hostile:TestMutations"},
}
