package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// elementUse is a step that uses one round of a loop, once in words that name the round, and once in words that hide it.
type elementUse struct {
	round      int
	named, all string
}

func elementUses(r *rand.Rand, rounds int) (uses []elementUse) {
	for range 3 + r.IntN(4) {
		i := r.IntN(rounds)
		named := fmt.Sprintf("foo.results[%d]", i)
		switch r.IntN(5) {
		case 0:
			named = fmt.Sprintf("foo.results[%d]", i-rounds)
		case 1:
			i, named = 0, "(foo.results | first)"
		case 2:
			i, named = rounds-1, "(foo.results|last)"
		case 3:
			named = fmt.Sprintf("foo['results'][%d]", i)
		}
		uses = append(uses, elementUse{i, named, fmt.Sprintf("(foo.results | list)[%d]", i)})
	}
	return uses
}

// A step that uses the result of one round of a loop waits for that round alone, gets what it would get of all of them, and does not run
// if the round has failed, whatever becomes of the others.
func TestElementsOfLoops(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 25
	}
	for seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			testElements(t, rand.New(rand.NewPCG(seed, 16)))
		})
	}
}

func testElements(t *testing.T, r *rand.Rand) {
	t.Helper()
	rounds := 1 + r.IntN(5)
	fails, skips := map[int]bool{}, map[int]bool{}
	for i := range rounds {
		fails[i], skips[i] = r.IntN(6) == 0, r.IntN(5) == 0
	}
	uses := elementUses(r, rounds)
	var text strings.Builder
	items, runs := []string{}, []string{}
	for i := range rounds {
		items = append(items, strconv.Itoa(i))
		if !skips[i] {
			runs = append(runs, strconv.Itoa(i))
		}
	}
	fmt.Fprintf(&text, "strategy: graph\nsteps:\n  - shell: work {{ item }}\n    loop: [%s]\n    when: item in [%s]\n"+
		"    loop_control: {limit: %d}\n    register: foo\n", strings.Join(items, ", "), strings.Join(runs, ", "), rounds)
	for k, u := range uses {
		for word, of := range map[string]string{"named": u.named, "whole": u.all} {
			fmt.Fprintf(&text, "  - shell: \"%s %d {{ %s.skipped | default(false) }} {{ %s.rc | default('none') }}\"\n", word, k, of, of)
		}
	}
	fmt.Fprintf(&text, "  - shell: each {{ item.item }} {{ item.rc | default('none') }}\n    loop: foo.results\n    loop_control: {limit: %d}\n", rounds)
	p, g := build(t, text.String())

	var mu sync.Mutex
	over := map[int]bool{}      // rounds that have ended
	early := map[string][]int{} // what had ended when a step began
	slow := make([]time.Duration, rounds)
	for i := range slow {
		slow[i] = time.Duration(r.IntN(4)) * time.Millisecond
	}
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		words := strings.Fields(cmdOf(job))
		i, _ := strconv.Atoi(words[1])
		if words[0] != "work" {
			mu.Lock()
			defer mu.Unlock()
			for round := range over {
				early[words[0]+words[1]] = append(early[words[0]+words[1]], round)
			}
			return exec.Result{Outcome: events.Changed}
		}
		time.Sleep(slow[i])
		mu.Lock()
		defer mu.Unlock()
		over[i] = true
		rc := 10 + i
		if fails[i] {
			return exec.Result{Outcome: events.Failed, Error: "it fails", RC: &rc}
		}
		return exec.Result{Outcome: events.Changed, RC: &rc}
	}}
	w := watching(t, begin(t, p, g, f, fact.Options{OnFailure: fact.Continue}), false)
	w.done()

	said := map[string]string{}
	for _, line := range f.order {
		words := strings.SplitN(line, " ", 3)
		key := words[0] + words[1]
		if _, twice := said[key]; twice {
			t.Errorf("%s ran twice", key)
		}
		said[key] = strings.Join(words[2:], " ")
	}
	failed := slices.ContainsFunc(runs, func(i string) bool { n, _ := strconv.Atoi(i); return fails[n] })
	check := func(key string, round int, want string) {
		got, ran := said[key]
		switch bad := fails[round] && !skips[round]; {
		case ran == bad:
			t.Errorf("%s ran: %v; its round failed: %v", key, ran, bad)
		case ran && got != want:
			t.Errorf("%s got %q, want %q", key, got, want)
		case ran && !skips[round] && !slices.Contains(early[key], round):
			t.Errorf("%s began before round %d had ended", key, round)
		}
	}
	for k, u := range uses {
		want, key := fmt.Sprintf("false %d", 10+u.round), strconv.Itoa(k)
		if skips[u.round] {
			want = "true none"
		}
		check("named"+key, u.round, want)
		if got, ran := said["whole"+key]; ran == failed || ran && got != want {
			t.Errorf("whole%s ran: %v and got %q, want %q; a round failed: %v", key, ran, got, want, failed)
		}
	}
	for i := range rounds {
		want := strconv.Itoa(10 + i)
		if skips[i] {
			want = "none"
		}
		check("each"+strconv.Itoa(i), i, want)
	}
	if t.Failed() {
		t.Logf("%s\nfails %v, skips %v\n%s", text.String(), fails, skips, strings.Join(f.order, "\n"))
	}
}
