package planner

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/secret/vault"
)

// unlock puts the text of an encrypted file in its place, and says of a file of secrets that it is one.
func (p *library) unlock(f *playbook.File) error {
	f.Decrypt = func(text string) (plain, wrong, hint string) {
		plain, err := p.decrypt([]byte(text), "vault:"+source.DigestOf([]byte(strings.Join(strings.Fields(text), "")))[:32])
		if err != nil {
			return "", err.Error(), plan.WayIn(err)
		}
		return plain, "", ""
	}
	if vault.Is(f.Text) {
		plain, err := p.decrypt(f.Text, "")
		if err != nil {
			return &plan.LockedError{File: f.Name, Err: err}
		}
		f.Text, f.Secret = []byte(plain), true
	}
	f.Secret = f.Secret || source.NamedSecret(f.Name)
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
		return "", errors.New("the encrypted value is not text")
	}
	if from != "" {
		p.secrets.Add(from, string(plain))
	}
	return string(plain), nil
}

func (p *library) passwords() ([]vault.Password, error) {
	if p.o.Outside.Vault == nil {
		return nil, nil
	}
	return p.o.Outside.Vault()
}

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
		if len(v.Text()) >= plan.LeastDigits {
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

// parseVars reads the values of a file of variables.
func (p *library) parseVars(f *playbook.File) (playbook.Value, bool) {
	v, ok := playbook.ParseVars(f, &p.Found)
	if ok && f.Secret {
		p.learn(f, v, "")
	}
	return v, ok
}
