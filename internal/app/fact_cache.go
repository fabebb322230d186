package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"moon/exec/spec"
	"moon/internal/factcache"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/vars"
)

// factCaches are the ways of keeping facts that moon has.
var factCaches = []string{"memory", "jsonfile"}

// KeepsFacts reports whether moon has a way of keeping facts from run to run, or one that keeps none.
func KeepsFacts(kind string) bool {
	for _, known := range factCaches {
		if strings.TrimPrefix(strings.TrimPrefix(kind, spec.BuiltinPrefix), "ansible.legacy.") == known {
			return true
		}
	}
	return false
}

// KeepFacts has planning and runs use the files of facts that a plan's settings name, if they name any: afresh, if what is kept is cleared.
func (call *Invocation) KeepFacts(o *plan.Options, clears bool) {
	caches := &factcache.Caches{Clears: clears, Warn: func(text string) {
		if !call.Terminal.shown() {
			fmt.Fprintf(call.Err, "moon: warning: %s\n", termtext.CleanName(text))
		}
	}}
	o.Outside.StoredFacts, call.Session.Keep = caches.Read, caches.Keep
}

// factFiles puts into the options where facts are kept.
func (s AnsibleSettings) factFiles(o *plan.Options) error {
	kind, place := s.setting("defaults.fact_caching")
	if !strings.HasSuffix(kind, "jsonfile") || !KeepsFacts(kind) {
		return nil
	}
	dir, from := s.setting("defaults.fact_caching_connection")
	switch {
	case dir == "":
		return Usage("%s: files of facts need a directory: name it as fact_caching_connection, or in $ANSIBLE_CACHE_PLUGIN_CONNECTION", place)
	case strings.HasPrefix(from, "$"):
		dir = settingPath(filepath.Join(o.Dir, "ansible.cfg"), dir)
	default:
		dir = settingPath(s.File, dir)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Usage("%s must be a directory in which files of facts can be kept; this is %q", from, dir)
	}
	prefix, _ := s.setting("defaults.fact_caching_prefix")
	timeout, err := s.cacheTimeout()
	if err != nil {
		return err
	}
	o.Mode.FactFiles = vars.FactFiles{Dir: dir, Prefix: prefix, Timeout: timeout}
	return nil
}

// cacheTimeout is how old kept facts may be: a day, as Ansible has it, or any age with 0.
func (s AnsibleSettings) cacheTimeout() (time.Duration, error) {
	text, place := s.setting("defaults.fact_caching_timeout")
	if text == "" {
		return 24 * time.Hour, nil
	}
	seconds, err := time.ParseDuration(strings.TrimSpace(text) + "s")
	if err != nil || seconds < 0 || seconds%time.Second != 0 {
		return 0, Usage("%s must be a number of seconds, or 0 for facts of any age; this is %q", place, text)
	}
	return seconds, nil
}
