package python

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	"moon/exec/spec"
)

// Pools are the helpers for playbooks in several directories. It must be closed.
type Pools struct {
	New func(root string) (*Pool, error) // for the playbook in a directory

	mu    sync.Mutex
	pools map[string]*Pool
	over  bool
}

// Ask is as of Pool, for the playbook in a directory.
func (p *Pools) Ask(root, what string, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error) {
	pool, err := p.of(root)
	if err != nil {
		return nil, err
	}
	return pool.Ask(what, request, answer)
}

// AskWithin is as of Pool, for the playbook in a directory.
func (p *Pools) AskWithin(ctx context.Context, root string, request []byte, answer func([]byte) ([]byte, bool)) (json.RawMessage, error) {
	pool, err := p.of(root)
	if err != nil {
		return nil, err
	}
	return pool.AskWithin(ctx, request, answer)
}

// Names asks a file of filters or tests what it has.
func (p *Pools) Names(root string, of *spec.Callee) (names []string, err error) {
	request, err := json.Marshal(map[string]any{
		"do": "names", "kind": of.Kind, "path": of.Path, "digest": of.Digest, "module": of.Module, "members": of.Members,
	})
	if err != nil {
		return nil, err
	}
	result, err := p.Ask(root, filepath.Base(of.Path), request, func([]byte) ([]byte, bool) { return nil, true })
	if err != nil {
		return nil, err
	}
	return names, json.Unmarshal(result, &names)
}

func (p *Pools) of(root string) (*Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pool := p.pools[root]; pool != nil {
		return pool, nil
	}
	pool, err := p.New(root)
	if err != nil {
		return nil, err
	}
	if p.pools == nil {
		p.pools = map[string]*Pool{}
	}
	p.pools[root] = pool
	if p.over {
		pool.Close()
	}
	return pool, nil
}

// Close ends what runs.
func (p *Pools) Close() {
	p.mu.Lock()
	pools := p.pools
	p.over = true
	p.mu.Unlock()
	for _, pool := range pools {
		pool.Close()
	}
}
