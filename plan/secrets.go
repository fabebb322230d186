package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/secret"
	"moon/secret/vault"
)

// A plan has two sets of secrets. Its own holds what planning has read, and nothing else: what is shown of the plan, and its
// digest, depend on it, and a plan made twice is the same plan. That of the process is told the same, and what a run learns.

// Secrets are all that the process knows, also of other plans.
func (p *Plan) Secrets() *secret.Set { return p.made.o.Secrets }

// namedSecret reports whether a file is one of secrets by its name. Its text is kept nowhere, nor a digest, by which a short
// secret could be found.
func namedSecret(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".secret.yml") || strings.HasSuffix(base, ".secret.yaml")
}

// unlock puts the text of an encrypted file in its place, and says of a file of secrets that it is one.
func (p *library) unlock(f *playbook.File) error {
	f.Decrypt = func(text string) (plain, wrong, hint string) {
		plain, err := p.decrypt([]byte(text), "vault:"+digestOf([]byte(strings.Join(strings.Fields(text), "")))[:32])
		if err != nil {
			return "", err.Error(), wayIn(err)
		}
		return plain, "", ""
	}
	if vault.Is(f.Text) {
		plain, err := p.decrypt(f.Text, "")
		if err != nil {
			return &lockedError{f.Name, err}
		}
		f.Text, f.Secret = []byte(plain), true
	}
	f.Secret = f.Secret || namedSecret(f.Name)
	return nil
}

// decrypt opens a vault. Its text is secret if it has a name.
func (p *library) decrypt(text []byte, from string) (string, error) {
	passwords, err := p.passwords()
	if err != nil {
		return "", err
	}
	plain, err := vault.Decrypt(text, passwords)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(plain) {
		return "", errors.New("what was encrypted is no text")
	}
	if from != "" {
		p.secrets.Add(from, string(plain))
	}
	return string(plain), nil
}

func (p *library) passwords() ([]vault.Password, error) {
	if p.o.Vault == nil {
		return nil, nil
	}
	return p.o.Vault()
}

// wayIn is the hint for what cannot be decrypted.
func wayIn(err error) string {
	switch {
	case errors.Is(err, vault.ErrNoPassword):
		return "give its password with --vault-password-file FILE or --ask-vault-pass"
	case errors.Is(err, vault.ErrWrong):
		return "give the right one with --vault-password-file FILE or --ask-vault-pass"
	}
	return ""
}

// lockedError is a file that cannot be decrypted.
type lockedError struct {
	file string
	err  error
}

func (e *lockedError) Error() string { return fmt.Sprintf("%s cannot be read: %s", e.file, e.err) }

// learn makes the values of a file of secrets known, each by its place in the file. A template is known when it is rendered.
func (p *library) learn(f *playbook.File, v playbook.Value, at string) {
	switch v.Kind() {
	case playbook.Map:
		for _, e := range v.Entries() {
			p.learn(f, e.Value, at+"."+e.Key)
		}
	case playbook.List:
		for i, item := range v.Items() {
			p.learn(f, item, at+"."+strconv.Itoa(i))
		}
	case playbook.Int, playbook.Float:
		if len(v.Text()) >= leastDigits {
			p.secrets.Add(f.Name+"#"+at[1:], v.Text())
		}
	case playbook.String:
		if v.Literal() || !eval.Templated(v.Text()) {
			p.secrets.Add(f.Name+"#"+at[1:], v.Text())
		}
	case playbook.Null, playbook.Bool:
	}
}

// learnNamed makes the value of a variable of an inventory known, if its name says that it is a secret. What a template comes to is
// learnt where it is used.
func (p *library) learnNamed(v inventory.Var, from string) {
	if inventory.IsSecret(v.Name) {
		p.learn(&playbook.File{Name: from}, v.Value, "."+v.Name)
	}
}

// leastDigits is how long a number must be to be looked for in texts: shorter ones are ports, counts and years.
const leastDigits = 6

// parseVars reads the values of a file of variables.
func (p *library) parseVars(f *playbook.File) (playbook.Value, bool) {
	v, ok := playbook.ParseVars(f, &p.ds)
	if ok && f.Secret {
		p.learn(f, v, "")
	}
	return v, ok
}

// conceal takes the secrets out of what is shown of the plan. That of a step was done when it was planned; what has become known
// since, and the digests with it, are mended here.
func (p *stepPlanner) conceal() {
	if p.secrets.Empty() {
		return
	}
	plan := p.plan
	plan.Name = p.secrets.Redact(plan.Name)
	plan.Vars, plan.Exports = secret.Clean(p.secrets, plan.Vars), p.cleanExports()
	taken := map[string]bool{}
	unique := func(path string) string {
		clean := p.secrets.Redact(path)
		for n, first := 2, clean; taken[clean]; n++ {
			clean = fmt.Sprintf("%s~%d", first, n)
		}
		taken[clean] = true
		return clean
	}
	for i := range plan.Scopes {
		s := &plan.Scopes[i]
		s.Path = unique(s.Path)
		for _, text := range []*string{&s.Name, &s.Item, &s.When, &s.Skipped, &s.Loop} {
			*text = p.secrets.Redact(*text)
		}
	}
	clear(taken)
	p.concealReads()
	for i := range plan.Steps {
		s := &plan.Steps[i]
		s.Path = unique(s.Path)
		p.concealStep(s)
		p.maskAgain(s.task)
		s.Digest = p.stepDigest(s, s.task)
	}
	p.concealInputs()
}

func (p *stepPlanner) cleanExports() []Export {
	for i := range p.plan.Exports {
		p.plan.Exports[i].Value = secret.Clean(p.secrets, p.plan.Exports[i].Value)
	}
	return p.plan.Exports
}

// concealStep takes the secrets out of what is shown of a step. Running it renders what it needs from what is written.
func (p *stepPlanner) concealStep(s *Step) {
	if p.secrets.Empty() {
		return
	}
	for _, text := range []*string{&s.Name, &s.Summary, &s.When, &s.Confirm} {
		*text = p.secrets.Redact(*text)
	}
	env, cwd := secret.Clean(p.secrets, s.Env), p.secrets.Redact(s.Cwd)
	for name := range env {
		s.concealed = s.concealed || env[name] != s.Env[name]
	}
	s.concealed = s.concealed || len(env) != len(s.Env) || cwd != s.Cwd
	s.Env, s.Cwd = env, cwd
	s.Overridden = secret.Clean(p.secrets, s.Overridden)
	s.Args, s.Uses = secret.Clean(p.secrets, s.Args), secret.Clean(p.secrets, s.Uses)
	if s.Loop != nil {
		*s.Loop = p.cleanLoop(*s.Loop)
	}
	if s.InLoop != nil {
		clean := p.cleanLoop(*s.InLoop)
		s.InLoop = &clean
	}
	if s.Undo != nil {
		*s.Undo = secret.Clean(p.secrets, *s.Undo)
	}
}

func (p *stepPlanner) cleanLoop(l LoopContext) LoopContext {
	l.Item, l.Label, l.Expression = secret.Clean(p.secrets, l.Item), p.secrets.Redact(l.Label), p.secrets.Redact(l.Expression)
	return l
}

// concealInputs finds the files in which a secret is written as it is: their text is not kept, nor a digest.
func (p *stepPlanner) concealInputs() {
	for path, f := range p.disk.files {
		f.secret = f.secret || p.secrets.Has(string(f.text))
		if !f.secret {
			continue
		}
		for i := range p.plan.Inputs {
			if p.plan.Inputs[i].Path == p.shown(path) {
				p.plan.Inputs[i].Digest = ""
			}
		}
	}
}

// clean takes the secrets out of what is wrong with the playbook.
func (p *stepPlanner) clean(ds diag.List) {
	if p.secrets.Empty() {
		return
	}
	for i := range ds {
		d := &ds[i]
		d.Pos.File = p.secrets.Redact(d.Pos.File)
		d.Message, d.Hint, d.Source = p.secrets.Redact(d.Message), p.secrets.Redact(d.Hint), p.secrets.Redact(d.Source)
	}
}

// inArguments warns about a secret among the words of a command, which everybody on the machine can read while it runs.
func (p *stepPlanner) inArguments(s *Step, k *task, raw map[string]any) {
	if p.secrets.Empty() {
		return
	}
	if v, ok := valueOf(k.args, "repo"); ok && k.action.Name == "git" && p.secrets.Has(secret.WithoutPassword(eval.Text(raw["repo"]))) {
		p.report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(FirstLine(v.Text())), Chain: s.Origin.Chain,
			Message: "a secret in the URL of a repository is visible to everybody on the machine while git runs, and stays in the configuration of the working copy",
			Hint:    "give it as a password, as in https://USER:{{ secret }}@host/path, which moon takes out of the URL",
		})
	}
	if k.action.Name != "command" {
		return
	}
	for _, name := range []string{"argv", "cmd"} {
		v, ok := valueOf(k.args, name)
		if !ok || !p.secrets.Has(eval.Text(raw[name])) {
			continue
		}
		p.report(diag.Diagnostic{
			Severity: diag.Warning, Pos: v.Pos(), Width: utf8.RuneCountInString(FirstLine(v.Text())), Chain: s.Origin.Chain,
			Message: "a secret among the words of a command is visible to everybody on the machine while it runs",
			Hint:    "give it in `env` or `stdin`, or use `shell`, whose text moon hands over unseen",
		})
	}
}

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
	mark := func(v any) any { return eval.Mixed(set, v) }
	if all {
		mark = func(v any) any { return eval.Mark(set, v, eval.Every) }
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

// SecretError says that a plan was made with a secret that was given on the command line, which is kept nowhere.
type SecretError struct{ Flag string }

func (e *SecretError) Error() string {
	return e.Flag + " holds a secret, which is not kept; give it in a file whose name ends in .secret.yml, or encrypted"
}

// secretFlag is the flag that holds a secret; "" if none does.
func (m *made) secretFlag() string {
	for _, g := range []struct {
		flag string
		list []string
	}{{"--extra-vars", m.o.ExtraVars}, {"--vars-file", m.o.VarsFiles}} {
		if slices.ContainsFunc(g.list, m.secrets.Has) {
			return g.flag
		}
	}
	return ""
}

// Decrypt gives the text of an encrypted file that a step takes. All of it is secret.
func (p *Plan) Decrypt(text []byte) ([]byte, error) {
	var passwords []vault.Password
	if get := p.made.o.Vault; get != nil {
		var err error
		if passwords, err = get(); err != nil {
			return nil, err
		}
	}
	plain, err := vault.Decrypt(text, passwords)
	if err != nil {
		if way := wayIn(err); way != "" {
			err = fmt.Errorf("%w: %s", err, way)
		}
		return nil, err
	}
	sum := sha256.Sum256(bytes.TrimSpace(text))
	p.Secrets().Add("vault:"+hex.EncodeToString(sum[:16]), string(plain))
	return plain, nil
}
