package spec

import "strings"

// FileAttributes are arguments of all actions that write files, next to mode, owner and group.
type FileAttributes struct {
	Labels
	UnsafeWrites bool   `arg:"unsafe_writes" default:"false" doc:"Where a new file cannot take the place of the old one, as with a file that is mounted into a container, write into the old one. Others may see a part of it meanwhile."`
	Attributes   string `arg:"attributes,attr" doc:"Attributes of the file system, as of chattr: +i adds immutable, -i removes it, =ae or ae sets exactly these. The file system must have them."`
}

// Labels are the parts of the SELinux context that a file should have. As with Ansible, a machine without SELinux ignores them.
type Labels struct {
	SEUser  string `arg:"seuser" doc:"User of the SELinux context. A machine without SELinux ignores it, and the next three."`
	SERole  string `arg:"serole" doc:"Role of the context."`
	SEType  string `arg:"setype" doc:"Type of the context."`
	SELevel string `arg:"selevel" doc:"Level of the context, if the policy has levels."`
}

// FlagEdit is what `attributes` asks for: nothing, or letters to add (+), to remove (-) or to have alone (=).
type FlagEdit struct {
	Sign    byte
	Letters string
}

// String writes it as a playbook does.
func (e FlagEdit) String() string {
	if e == (FlagEdit{}) {
		return ""
	}
	return string(e.Sign) + e.Letters
}

// settableFlags are the attributes that can be changed at all. Others, such as E for encrypted, the file system sets itself.
const settableFlags = "aAcCdDeFijmPsStTux"

// FlagEdit reads `attributes`. Its error is about the text alone.
func (a FileAttributes) FlagEdit() (FlagEdit, *Problem) {
	if a.Attributes == "" {
		return FlagEdit{}, nil
	}
	e := FlagEdit{'=', a.Attributes}
	if strings.IndexByte("+-=", a.Attributes[0]) >= 0 {
		e = FlagEdit{a.Attributes[0], a.Attributes[1:]}
	}
	hint := "the letters are " + settableFlags + ", as of chattr"
	for _, letter := range e.Letters {
		if !strings.ContainsRune(settableFlags, letter) {
			return e, &Problem{"attributes", "`attributes` has " + nameValue(string(letter)) + ", which cannot be set", hint}
		}
	}
	if e.Letters == "" && e.Sign != '=' {
		return e, &Problem{"attributes", "`attributes` has no letter after " + string(e.Sign), hint}
	}
	return e, nil
}

// attributeProblems is found by the decoder in every action that has these arguments.
func (a FileAttributes) attributeProblems() []Problem {
	if _, p := a.FlagEdit(); p != nil {
		return []Problem{*p}
	}
	return nil
}
