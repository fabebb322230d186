package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"moon/engine"
	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/plugin"
	"moon/exec/remote"
	"moon/exec/spec"
	"moon/internal/build"
	"moon/plan"
	"moon/plan/found"
)

// connections are the hosts of plays as one call of moon knows them: those that were made to plan are kept for the run, and no
// host is asked for its facts twice.
type connections struct {
	call *Invocation

	mu    sync.Mutex
	pool  *remote.Pool // nil before the first connection, and when a run has taken them
	facts map[string]plan.Gathered
}

// atOnce is how many hosts are asked for their facts at the same time.
const atOnce = 64

// factsWithin is how long gathering may take on a host.
const factsWithin = 30 * time.Second

// Gather implements plan.Options.Gather.
func (c *connections) Gather(targets []plan.Target) []plan.Gathered {
	got := make([]plan.Gathered, len(targets))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	// Asked once, however many hosts mean this machine.
	here := sync.OnceValue(func() plan.Gathered {
		ctx, cancel := context.WithTimeout(context.Background(), factsWithin)
		defer cancel()
		return plan.Gathered{Facts: facts.Gather(ctx, nil, factsWithin)}
	})
	for i, t := range targets {
		c.mu.Lock()
		// Known facts are those of an earlier plan of this call.
		known, ok := c.facts[t.Host]
		c.mu.Unlock()
		if ok {
			got[i] = known
			continue
		}
		// Bounded, as each host may open a connection.
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if t.Conn == nil {
				got[i] = here()
			} else {
				got[i] = c.ask(t)
			}
			if got[i].Facts == nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.facts == nil {
				c.facts = map[string]plan.Gathered{}
			}
			c.facts[t.Host] = got[i]
		})
	}
	wg.Wait()
	return got
}

func (c *connections) ask(t plan.Target) plan.Gathered {
	ctx, cancel := context.WithTimeout(context.Background(), 2*factsWithin)
	defer cancel()
	facts, err := c.open().Facts(ctx, engine.HostOf(t.Conn), nil)
	if err != nil {
		return plan.Gathered{Why: err.Error()}
	}
	return plan.Gathered{Facts: facts.Ansible, Own: facts.Moon}
}

// probeWithin is how long a step may take that is asked while planning.
const probeWithin = 30 * time.Second

// Probe implements plan.Options.Probe: each step is done where it will be done in the run. Hosts are asked at the same time.
func (c *connections) Probe(list []plan.Probe) []found.Result {
	pool := c.open()
	if pool.Plugins == nil && len(list) > 0 {
		pool.Plugins = &plugin.Host{Moon: c.call.version, Cwd: list[0].Root, Asker: c.call.Asker}
		pool.Local.Plugin = pool.Plugins.Run
	}
	got := make([]found.Result, len(list))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range list {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got[i] = probe(pool, &list[i])
		})
	}
	wg.Wait()
	return got
}

// probe does one step. What only some may read is not asked for: a plan is saved with what it was made from.
func probe(pool *remote.Pool, q *plan.Probe) found.Result {
	ctx, cancel := context.WithTimeout(context.Background(), probeWithin)
	defer cancel()
	call := q.Call
	if read, ok := call.Args.(*spec.SlurpArgs); ok {
		look := *call
		look.Action, look.Args = "stat", &spec.StatArgs{Path: read.Src, Follow: true}
		look.Raw = map[string]any{"path": read.Src, "follow": true, "get_checksum": false}
		r := pool.Run(ctx, probeJob(q, &look))
		file, _ := r.Fields["stat"].(map[string]any)
		if file["roth"] != true {
			return found.Result{Why: "not all may read the file"}
		}
	}
	job := probeJob(q, call)
	r := pool.Run(ctx, job)
	if r.Outcome != events.OK && r.Outcome != events.Changed {
		return found.Result{Why: cmp.Or(r.Error, "it fails")}
	}
	stdout, stderr, err := job.Output.Kept()
	if err != nil || stdout.Over || stderr.Over {
		return found.Result{Why: "it prints too much"}
	}
	return found.Result{Fields: r.Fields, RC: r.RC, Stdout: string(stdout.Text), Stderr: string(stderr.Text)}
}

// probeOutput is how much a step may print that is asked while planning, in bytes.
const probeOutput = 1 << 20

func probeJob(q *plan.Probe, call *plan.Call) *exec.Job {
	w := steplog.NewDiscard()
	w.Keep(probeOutput)
	job := &exec.Job{
		Action: call.Action, Args: call.Args, Raw: call.Raw, Env: q.Env, Cwd: q.Cwd, Timeout: q.Timeout, Output: w,
		Host: engine.HostOf(q.Conn), HostName: q.Host, Dialect: q.Dialect, Roams: q.Roams,
	}
	if args, ok := call.Args.(*spec.PluginArgs); ok {
		job.Details = &exec.StepDetails{Name: args.Plugin.Action, Host: q.Host}
	}
	if q.Become != nil {
		job.Become = &exec.Become{User: q.Become.User, Method: q.Become.Method, Password: q.BecomePassword}
	}
	return job
}

// open gives connections, and makes them if there are none.
func (c *connections) open() *remote.Pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pool == nil {
		local, _ := c.call.Session.Runner.(exec.Local) // tests watch it
		c.pool = &remote.Pool{
			Local: local, Build: c.call.build, CheckBuild: build.Check,
			NotePassword: func(password string) { c.call.Secrets.Add("", password) },
		}
	}
	return c.pool
}

// Take gives the connections away, to somebody who closes them.
func (c *connections) Take() *remote.Pool {
	pool := c.open()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pool = nil
	return pool
}

// Close ends what nobody has taken.
func (c *connections) Close() {
	c.mu.Lock()
	pool := c.pool
	c.pool = nil
	c.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
}

// itsHosts is what a program of the inventory prints.
const itsHosts = "its hosts"

// OnlyTrusted runs inventory programs that are trusted. named says where their names stand.
func OnlyTrusted(run func(string, ...string) ([]byte, error), t *Truster, named string) func(string, ...string) ([]byte, error) {
	return func(path string, args ...string) ([]byte, error) {
		if _, _, plugin := spec.PluginOf(path); plugin {
			// The plugin is trusted by itself. What its file has it do, it does on behalf of the playbook.
			if _, err := os.Stat(args[0]); err == nil {
				if _, err := t.program(args[0], itsHosts, named); err != nil {
					return nil, fmt.Errorf("it is a program that %s names, and %w, or name it yourself with -i", named, err)
				}
			}
			return run(path, args...)
		}
		digest, err := t.program(path, itsHosts, named)
		if err != nil {
			return nil, fmt.Errorf("it is a program that %s names, and %w, or name it yourself with -i", named, err)
		}
		if digest == "" {
			return run(path, args...)
		}
		// What was compared is what runs: a copy, since the file may change in between.
		program, remove, err := exec.Verified(path, digest)
		if err != nil {
			return nil, err
		}
		defer remove()
		return run(program, args...)
	}
}
