package cli

import (
	"context"
	"sync"
	"time"

	"moon/engine"
	"moon/exec"
	"moon/exec/agent"
	"moon/plan"
	"moon/secret"
)

// reached are the hosts of plays as one call of moon knows them: connections that were made to plan are kept for the run, and no
// host is asked for its facts twice.
type reached struct {
	secrets *secret.Set

	mu    sync.Mutex
	lanes *agent.Lanes // nil before the first connection, and when a run has taken them
	facts map[string]plan.Gathered
}

// atOnce is how many hosts are asked for their facts at the same time.
const atOnce = 64

// factsWithin is how long gathering may take on a host.
const factsWithin = 30 * time.Second

// gather implements plan.Options.Gather.
func (r *reached) gather(targets []plan.Target) []plan.Gathered {
	got := make([]plan.Gathered, len(targets))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	here := sync.OnceValue(func() plan.Gathered {
		ctx, cancel := context.WithTimeout(context.Background(), factsWithin)
		defer cancel()
		return plan.Gathered{Facts: exec.GatherFacts(ctx, nil, factsWithin)}
	})
	for i, t := range targets {
		r.mu.Lock()
		known, ok := r.facts[t.Host]
		r.mu.Unlock()
		if ok {
			got[i] = known
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if t.Conn == nil {
				got[i] = here()
			} else {
				got[i] = r.ask(t)
			}
			if got[i].Facts == nil {
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.facts == nil {
				r.facts = map[string]plan.Gathered{}
			}
			r.facts[t.Host] = got[i]
		})
	}
	wg.Wait()
	return got
}

func (r *reached) ask(t plan.Target) plan.Gathered {
	ctx, cancel := context.WithTimeout(context.Background(), 2*factsWithin)
	defer cancel()
	facts, err := r.open().Facts(ctx, engine.HostOf(t.Conn), nil)
	if err != nil {
		return plan.Gathered{Why: err.Error()}
	}
	return plan.Gathered{Facts: facts.Ansible, Own: facts.Moon}
}

// open gives lanes, and makes them if there are none.
func (r *reached) open() *agent.Lanes {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lanes == nil {
		local, _ := sessions.Runner.(exec.Local) // tests watch it
		r.lanes = &agent.Lanes{Local: local, Build: build(), Told: func(password string) { r.secrets.Add("", password) }}
	}
	return r.lanes
}

// take gives the lanes away, to somebody who closes them.
func (r *reached) take() *agent.Lanes {
	lanes := r.open()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes = nil
	return lanes
}

// close ends what nobody has taken.
func (r *reached) close() {
	r.mu.Lock()
	lanes := r.lanes
	r.lanes = nil
	r.mu.Unlock()
	if lanes != nil {
		lanes.Close()
	}
}

// connecting lets the planner ask hosts, programs and people.
func (f *hostFlags) connecting(o *plan.Options, std stdio, pf *pluginFlags, approved bool) error {
	set, err := ansibleConfig(o.Dir)
	if err != nil {
		return err
	}
	t, err := pf.truster(std, approved)
	if err != nil {
		return err
	}
	o.RolesPath = append(o.RolesPath, set.RolesPath...)
	f.reachable(o, std, t)
	if len(o.Inventory) == 0 && len(set.Inventory) > 0 {
		if o.Inventory, err = set.inventory(); err != nil {
			return err
		}
		if named := set.supplied(); named != "" {
			o.RunInventory = onlyTrusted(o.RunInventory, t, named)
		}
	}
	return nil
}

// onlyTrusted runs inventory programs that are trusted. named says where their names stand.
func onlyTrusted(run func(string, ...string) ([]byte, error), t *truster, named string) func(string, ...string) ([]byte, error) {
	return func(path string, args ...string) ([]byte, error) {
		digest, err := t.program(path, named)
		if err != nil {
			return nil, err
		}
		if digest == "" {
			return run(path, args...)
		}
		program, remove, err := exec.Verified(path, digest)
		if err != nil {
			return nil, err
		}
		defer remove()
		return run(program, args...)
	}
}

// reachable says whom the planner may ask: hosts, programs and people.
func (f *hostFlags) reachable(o *plan.Options, std stdio, t *truster) {
	o.Trusts = t.trusts
	ask := f.ask
	if ask == nil {
		ask = askPrompts
	}
	o.Gather, o.Answers = std.hosts.gather, f.answered
	o.Ask = func(list []plan.Prompt) (answers map[string]string, err error) {
		answers, f.unanswered = ask(list)
		return answers, f.unanswered
	}
	o.RunInventory = func(path string, args ...string) ([]byte, error) {
		return std.asker.Run(context.Background(), path, args...)
	}
}
