package app

import (
	"context"
	"errors"
	"sync"

	"moon/exec/plugin"
	"moon/exec/process"
	"moon/exec/spec"
	"moon/plan/called"
)

// PluginValues has plugins give what filters and lookups come to. Long-lived ones are kept until Close, for each directory of a playbook.
type PluginValues struct {
	Moon  string // its version
	Asker *process.Asker

	mu    sync.Mutex
	hosts map[string]*plugin.Host
}

// Ask is as plan.Outside wants it.
func (p *PluginValues) Ask(root string, c *spec.Callee, params []byte) ([]byte, error) {
	text, err := p.host(root).Value(context.Background(), c, params)
	if said, ok := errors.AsType[*plugin.ValueError](err); ok {
		return nil, &called.Failure{Kind: "failed", Text: said.Text}
	}
	return text, err
}

func (p *PluginValues) host(root string) *plugin.Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts == nil {
		p.hosts = map[string]*plugin.Host{}
	}
	if p.hosts[root] == nil {
		p.hosts[root] = &plugin.Host{Moon: p.Moon, Cwd: root, Asker: p.Asker}
	}
	return p.hosts[root]
}

// Close ends what runs.
func (p *PluginValues) Close() {
	p.mu.Lock()
	hosts := p.hosts
	p.hosts = nil
	p.mu.Unlock()
	for _, h := range hosts {
		h.Close()
	}
}
