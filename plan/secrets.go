package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"moon/plan/eval/value"
	"moon/plan/source"
	"moon/secret"
	"moon/secret/vault"
)

// A plan has two sets of secrets. Its own holds what planning has read, and nothing else: what is shown of the plan, and its
// digest, depend on it, and a plan made twice is the same plan. That of the process is given the same, and what a run learns.

// Secrets are all that the process knows, also of other plans.
func (p *Plan) Secrets() *secret.Set { return p.Basis.O.Secrets }

// WayIn is the hint for what cannot be decrypted.
func WayIn(err error) string {
	switch {
	case errors.Is(err, vault.ErrNoPassword):
		return "give its password with --vault-password-file FILE or --ask-vault-pass"
	case errors.Is(err, vault.ErrWrong):
		return "give the right one with --vault-password-file FILE or --ask-vault-pass"
	}
	return ""
}

// LockedError is a file that cannot be decrypted.
type LockedError struct {
	File string
	Err  error
}

func (e *LockedError) Error() string { return fmt.Sprintf("%s cannot be read: %s", e.File, e.Err) }

// LeastDigits is how long a number must be to be looked for in texts: shorter ones are ports, counts and years.
const LeastDigits = 6

// Conceal marks what a run has learned: the texts of a value that hold secrets, or all of them, as those of a step with no_log.
func (p *Plan) Conceal(result map[string]any, all bool) map[string]any {
	set := p.Secrets()
	late := false
	for _, v := range result {
		_, is := v.(*Later)
		late = late || is
	}
	if result == nil || !all && set.Empty() && !late {
		return result
	}
	mark := func(v any) any { return value.Mixed(set, v) }
	if all {
		mark = func(v any) any { return value.Mark(set, v, value.Every) }
	}
	marked := make(map[string]any, len(result))
	for name, v := range result {
		if name == "start" || name == "end" { // times of the run
			marked[name] = v
			continue
		}
		if l, is := v.(*Later); is { // the set may have learned more by then
			v = &Later{func() any { return mark(l.Make()) }, l.From}
		} else {
			v = mark(v)
		}
		marked[name] = v
	}
	return marked
}

// Decrypt gives the text of an encrypted file that a step takes. All of it is secret.
func (p *Plan) Decrypt(text []byte) ([]byte, error) {
	var passwords []vault.Password
	if get := p.Basis.O.Outside.Vault; get != nil {
		var err error
		if passwords, err = get(); err != nil {
			return nil, err
		}
	}
	plain, err := vault.Decrypt(text, passwords)
	if err != nil {
		if way := WayIn(err); way != "" {
			err = fmt.Errorf("%w: %s", err, way)
		}
		return nil, err
	}
	// By the digest of the vault: read again by another step, it is the same secret.
	sum := sha256.Sum256(bytes.TrimSpace(text))
	p.Secrets().Add("vault:"+hex.EncodeToString(sum[:16]), string(plain))
	return plain, nil
}

// ReadNow is the text of a file when a step runs.
func (p *Plan) ReadNow(path string) (string, error) {
	text, saved := p.Saved(path)
	if !saved {
		var err error
		if text, err = source.ReadBounded(path); err != nil {
			return "", errors.New("no such file: " + ShownPath(p.Root, path))
		}
	}
	plain, err := p.Decrypt(text)
	if err != nil {
		return string(text), nil //nolint:nilerr // it is not encrypted
	}
	return string(plain), nil
}
