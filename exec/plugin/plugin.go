package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"moon/exec/spec"
)

// Protocol is the version of the protocol that this moon speaks.
const Protocol = 1

// The kinds of capability that a plugin can have.
const (
	Execute    = "execute"
	Inventory  = "inventory"
	Facts      = "facts"
	Parse      = "parse"
	Connection = "connection"
	Filter     = spec.CalleeFilter
	Lookup     = spec.CalleeLookup
)

// kinds are what a plugin may say it can do.
var kinds = []string{Execute, Inventory, Facts, Parse, Connection, Filter, Lookup}

// greeting is the parameters of initialize.
type greeting struct {
	Protocol int    `json:"protocol"`
	Moon     string `json:"moon"`
	Cwd      string `json:"cwd"`
}

// Description is what a plugin says of itself. What else it says is for a later moon, and ignored.
type Description struct {
	Name         string      `json:"name"`
	Version      string      `json:"version"`
	Protocol     int         `json:"protocol"`
	Concurrent   bool        `json:"concurrent"` // a long-lived one takes a call before it has answered the one before
	Capabilities []Described `json:"capabilities"`
}

// Described is one thing that a plugin can do.
type Described struct {
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Where   string          `json:"where"`
	Check   string          `json:"check"`
	Diff    bool            `json:"diff"`
	Free    string          `json:"free"`
	Schema  json.RawMessage `json:"schema"`
	Returns map[string]any  `json:"returns"`
	Globs   []string        `json:"globs"`
}

// readAnswer takes an answer to describe or initialize. stem is what the names of its capabilities must begin with.
func (d *Description) readAnswer(text []byte, stem string) error {
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("what it says of itself cannot be read: %s", jsonError(err))
	}
	if d.Name == "" {
		d.Name = stem
	}
	if d.Protocol != Protocol {
		return fmt.Errorf("it speaks protocol %d of plugins, and this moon speaks %d", d.Protocol, Protocol)
	}
	if len(d.Capabilities) == 0 {
		return fmt.Errorf("it says of itself that it can do nothing")
	}
	for i := range d.Capabilities {
		c := &d.Capabilities[i]
		if !slices.Contains(kinds, c.Kind) {
			return fmt.Errorf("`kind` of %s is %q; it can be %s", c.Name, c.Kind, strings.Join(kinds, ", "))
		}
		if c.Name != stem && !strings.HasPrefix(c.Name, stem+".") {
			return fmt.Errorf("it has `%s`; by its file name it can have `%s` and `%s.…`", c.Name, stem, stem)
		}
		for _, glob := range c.Globs {
			if _, err := path.Match(glob, ""); err != nil || strings.Contains(glob, "/") {
				return fmt.Errorf("the pattern %q of `globs` of %s is not one for names of files", glob, c.Name)
			}
		}
		if c.Kind == Parse && len(c.Globs) == 0 {
			return fmt.Errorf("`%s` has no `globs`: patterns of names of the files that it reads", c.Name)
		}
		if len(c.Schema) > 0 {
			var compact bytes.Buffer // as it is kept with plans, byte for byte
			if err := json.Compact(&compact, c.Schema); err != nil {
				return err
			}
			c.Schema = compact.Bytes()
		}
	}
	return nil
}

// request is the parameters of execute.
type request struct {
	Protocol int            `json:"protocol"`
	Task     taskOf         `json:"task"`
	Host     hostOf         `json:"host"`
	Check    bool           `json:"check"`
	Diff     bool           `json:"diff"`
	Become   map[string]any `json:"become,omitempty"`
	Deadline int64          `json:"deadline_ms,omitempty"` // from now
	Secrets  []string       `json:"secrets"`
}

type taskOf struct {
	Name   string            `json:"name"` // of the capability
	Title  string            `json:"title,omitempty"`
	Args   map[string]any    `json:"args"`
	Env    map[string]string `json:"env,omitempty"`
	Cwd    string            `json:"cwd"`
	Origin *originOf         `json:"origin,omitempty"`
}

type originOf struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

type hostOf struct {
	Name string         `json:"name"`
	Vars map[string]any `json:"vars_used"`
}

// factsSchema are the arguments of what gives facts, whatever plugin it is of.
var factsSchema = json.RawMessage(`{"type":"object","properties":{"subset":` +
	`{"type":"array","items":{"type":"string"},"description":"Which of the facts are wanted; nothing: all."}}}`)

// factsRequest is the parameters of facts.
type factsRequest struct {
	Protocol int      `json:"protocol"`
	Name     string   `json:"name"`
	Host     string   `json:"host"`
	Subset   []string `json:"subset"`
}

// toSpec makes an action of what a plugin said; a plugin without a schema takes any arguments.
func (p *Found) toSpec(c Described) *spec.Plugin {
	if c.Kind == Facts {
		c.Check, c.Diff, c.Free, c.Schema = spec.CheckFull, false, "subset", factsSchema
	}
	return &spec.Plugin{
		Action: c.Name, Name: p.said.Name, Version: p.said.Version, Path: p.Path, Digest: p.Digest, Program: p.program, Speaks: p.speaks,
		Brought: p.Local, Untrusted: p.untrusted, Looks: c.Kind == Facts,
		Where: c.Where, Check: c.Check, Diff: c.Diff, Doc: c.Doc, Free: c.Free, Schema: c.Schema, Returns: maps.Clone(c.Returns),
	}
}
