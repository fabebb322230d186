package completing

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"moon/config"
	"moon/exec/spec"
	"moon/internal/app"
	"moon/internal/cli/editing"
	"moon/plan"
	"moon/plan/planner"
	"moon/themes"
)

// source finds out what there is to name. Everything is asked for once at most, and only when it is needed.
type source struct {
	call      *app.Invocation
	given     []string // arguments of the call
	inventory []string // its -i
	extra     []string // its -e
	vars      []string // its --vars-file

	planned bool
	plan    *plan.Plan
}

// note notes the value of a flag that decides what there is.
func (s *source) note(f *kong.Flag, value string) {
	switch f.Name {
	case "inventory":
		s.inventory = append(s.inventory, value)
	case "extra-vars":
		s.extra = append(s.extra, value)
	case "vars-file":
		s.vars = append(s.vars, value)
	}
}

// playbook is the one that the call names, or that moon takes without a name; "" if there is none.
func (s *source) playbook() string {
	for _, name := range append(s.given[:len(s.given):len(s.given)], "moon.yml", "playbook.yml") {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			if path, err := filepath.Abs(name); err == nil {
				return path
			}
		}
	}
	return ""
}

func (s *source) server() editing.Server {
	return editing.Server{Inventory: s.inventory, ExtraVars: s.extra, VarsFile: s.vars}
}

// load plans the playbook. One with mistakes has no steps to name.
func (s *source) load() *plan.Plan {
	if s.planned {
		return s.plan
	}
	s.planned = true
	if path := s.playbook(); path != "" {
		server := s.server()
		if o, err := server.PlanOptions(s.call, path); err == nil {
			s.plan, _ = planner.New(o)
		}
	}
	return s.plan
}

// mostOffers is how many steps are offered: a list that is longer helps no one.
const mostOffers = 500

func (s *source) steps() (offers []offer) {
	p := s.load()
	if p == nil {
		return nil
	}
	for i := 1; i < len(p.Scopes); i++ {
		if scope := &p.Scopes[i]; scope.UserID != "" {
			offers = append(offers, offer{scope.UserID, scope.Name})
		}
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		switch {
		case len(offers) >= mostOffers:
			return offers
		case step.UserID != "":
			offers = append(offers, offer{step.UserID, step.Title()})
		case step.Name != "":
			offers = append(offers, offer{step.Name, step.Action})
		}
	}
	return offers
}

func (s *source) tags() (offers []offer) {
	p := s.load()
	if p == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range p.Steps {
		for _, tag := range p.Steps[i].Tags {
			if !seen[tag] {
				offers, seen[tag] = append(offers, offer{tag, "tag"}), true
			}
		}
	}
	return offers
}

// hosts are those of the inventory, and its groups.
func (s *source) hosts() (string, []offer) {
	path := s.playbook()
	if path == "" {
		if dir, err := os.Getwd(); err == nil {
			path = filepath.Join(dir, "moon.yml")
		}
	}
	server := s.server()
	inv, err := server.ReadInventory(s.call, path)
	if err != nil {
		return onlyWords, nil
	}
	var offers []offer
	for _, g := range inv.Groups {
		offers = append(offers, offer{g.Name, plan.CountOf(len(g.Hosts), "host")})
	}
	for _, h := range inv.Hosts {
		offers = append(offers, offer{h.Name, "host"})
	}
	return onlyWords, offers
}

// mostRuns is how many of the last runs are offered.
const mostRuns = 40

func (s *source) runs(command string) (offers []offer) {
	list, _, err := app.PastRuns(mostRuns)
	if err != nil {
		return nil
	}
	for _, p := range list {
		outcome := string(p.Outcome)
		switch {
		case p.Live:
			outcome = "in progress"
		case outcome == "":
			outcome = "crashed"
		}
		if command == "attach" && !p.Live || command == "resume" && (p.Live || p.Outcome == "done") {
			continue
		}
		offers = append(offers, offer{p.ID, p.Playbook + ", " + outcome})
	}
	return offers
}

func (s *source) themes() (offers []offer) {
	dir := ""
	if base, err := os.UserConfigDir(); err == nil {
		dir = filepath.Join(base, "moon", "themes")
	}
	for _, name := range themes.Names(dir) {
		theme, _ := themes.Load(name, dir, true)
		offers = append(offers, offer{name, theme.About})
	}
	return offers
}

func actions() (offers []offer) {
	for _, a := range spec.All() {
		about, _, _ := strings.Cut(a.Doc, ". ")
		offers = append(offers, offer{a.Name, about})
	}
	return offers
}

func settings() (offers []offer) {
	for _, s := range config.Settings() {
		offers = append(offers, offer{s.Name, s.About})
	}
	return offers
}
