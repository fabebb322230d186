package eval

import (
	"crypto/rand"
	"encoding/csv"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"moon/plan/eval/value"
)

// Lookups whose terms have options in them: a password, a value of an INI or CSV file.

// keyed takes apart a term such as 'name key=value key=value'.
func keyed(term string) (name string, options map[string]string) {
	options = map[string]string{}
	var words []string
	for word := range strings.FieldsSeq(term) {
		key, value, ok := strings.Cut(word, "=")
		if ok && key != "" && !strings.ContainsAny(key, "/.") {
			options[key] = strings.Trim(value, `'"`)
		} else {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), options
}

// setting takes an option from a term, or from the call.
func (c *input) setting(options map[string]string, name, otherwise string) string {
	if v, ok := options[name]; ok {
		return v
	}
	if v, ok := c.named[name]; ok && v != nil {
		if list, isList := v.([]any); isList {
			parts := make([]string, len(list))
			for i := range list {
				parts[i] = c.print(list[i])
			}
			return strings.Join(parts, ",")
		}
		return c.print(v)
	}
	return otherwise
}

// letters are the names that password knows for sets of characters.
var letters = map[string]string{
	"ascii_lowercase": "abcdefghijklmnopqrstuvwxyz", "ascii_uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "digits": "0123456789",
	"ascii_letters": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"hexdigits":     "0123456789abcdefABCDEF", "octdigits": "01234567", "punctuation": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}

// charsOf are the characters that a password may be made of: names of sets, or characters themselves, and a comma where two of
// them follow each other. Quotes are never among them.
func (c *input) charsOf(options map[string]string) []rune {
	sets := []string{"ascii_letters", "digits", ".,:-_"}
	text, given := options["chars"]
	if v := c.named["chars"]; !given && v != nil {
		if list, isList := v.([]any); isList {
			sets = make([]string, len(list))
			for i := range list {
				sets[i] = c.print(list[i])
			}
		} else {
			text, given = c.print(v), true
		}
	}
	if given {
		sets = nil
		if strings.Contains(text, ",,") {
			sets = append(sets, ",")
		}
		sets = append(sets, strings.Split(strings.ReplaceAll(text, ",,", ","), ",")...)
	}
	var all strings.Builder
	for _, set := range sets {
		if known, ok := letters[set]; ok {
			set = known
		}
		all.WriteString(set)
	}
	return []rune(strings.NewReplacer(`"`, "", "'", "").Replace(all.String()))
}

// drawn is a password: of chance, or, with a seed, the one that Python's random draws with it.
func drawn(chars []rune, length int, seed string, always bool) (string, error) {
	made := make([]rune, length)
	if always {
		t, err := seeded(seed)
		if err != nil {
			return "", err
		}
		for i := range made {
			made[i] = chars[t.below(uint64(len(chars)))]
		}
		return string(made), nil
	}
	for i := range made {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(chars))))
		if err != nil {
			return "", err
		}
		made[i] = chars[n.Int64()]
	}
	return string(made), nil
}

func lookupPassword(c *input, terms []any) ([]any, error) {
	if c.engine.World.Password == nil {
		return nil, notHere("password")
	}
	out := []any{}
	for _, term := range terms {
		file, options := keyed(c.print(term))
		for option := range options {
			if option != "length" && option != "chars" && option != "encoding" && option != "seed" {
				return nil, value.Errorf(value.TypeError, "", "the option `%s` of `password` is not supported", option)
			}
		}
		length, err := strconv.Atoi(c.setting(options, "length", "20"))
		if err != nil || length < 1 || length > 10_000 {
			return nil, value.Errorf(value.TypeError, "", "the length of a password must be a number from 1 to 10000")
		}
		chars := c.charsOf(options)
		if len(chars) == 0 {
			return nil, value.Errorf(value.TypeError, "name some, such as `chars=ascii_letters,digits`",
				"needs characters to make a password of")
		}
		seed, always := options["seed"]
		if v := c.named["seed"]; !always && v != nil {
			seed, always = c.print(v), true
		}
		password, err := c.engine.World.Password(c.env, file, always, func() (string, error) { return drawn(chars, length, seed, always) })
		if password, err = ask("password", file, password, err); err != nil {
			return nil, err
		}
		c.touched = true
		c.engine.Secrets.Add("", password)
		out = append(out, password)
	}
	return out, nil
}

func lookupINI(c *input, terms []any) ([]any, error) {
	if c.engine.World.File == nil {
		return nil, notHere("ini")
	}
	out := []any{}
	for _, term := range terms {
		key, options := keyed(c.print(term))
		name := c.setting(options, "file", "ansible.ini")
		text, err := c.engine.World.File(c.env, "files", name)
		if text, err = ask("ini", name, text, err); err != nil {
			return nil, err
		}
		section := c.setting(options, "section", "global")
		properties := c.setting(options, "type", "ini") == "properties"
		if properties {
			section = ""
		}
		value, ok := iniValue(text, section, key)
		if !ok {
			if otherwise, given := c.named["default"]; given {
				out = append(out, otherwise)
				continue
			}
			value = c.setting(options, "default", "")
		}
		out = append(out, value)
	}
	return out, nil
}

// iniValue finds a key in a section; "" is what stands before the first. Keys do not mind case.
func iniValue(text, section, key string) (string, bool) {
	in := ""
	found := false
	value := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			in = bare[1 : len(bare)-1]
		case in == section || in == "DEFAULT" && section != "":
			i := strings.IndexAny(bare, "=:")
			if i >= 0 && strings.EqualFold(strings.TrimSpace(bare[:i]), key) && (!found || in == section) {
				value, found = strings.TrimSpace(bare[i+1:]), true
			}
		}
	}
	return value, found
}

func lookupCSV(c *input, terms []any) ([]any, error) {
	if c.engine.World.File == nil {
		return nil, notHere("csvfile")
	}
	out := []any{}
	for _, term := range terms {
		key, options := keyed(c.print(term))
		name := c.setting(options, "file", "ansible.csv")
		text, err := c.engine.World.File(c.env, "files", name)
		if text, err = ask("csvfile", name, text, err); err != nil {
			return nil, err
		}
		delimiter := c.setting(options, "delimiter", "TAB")
		if delimiter == "TAB" || delimiter == `\t` {
			delimiter = "\t"
		}
		column, err := strconv.Atoi(c.setting(options, "col", "1"))
		if err != nil || column < 0 || len([]rune(delimiter)) != 1 {
			return nil, value.Errorf(value.TypeError, "", "`csvfile` needs a number for `col` and one character for `delimiter`")
		}
		rows := csv.NewReader(strings.NewReader(text))
		rows.Comma, rows.FieldsPerRecord, rows.LazyQuotes = []rune(delimiter)[0], -1, true
		all, err := rows.ReadAll()
		if err != nil {
			return nil, value.Errorf(value.Failure, "", "%s is not CSV: %s", name, value.Sentence(err.Error()))
		}
		at := slices.IndexFunc(all, func(row []string) bool { return len(row) > 0 && row[0] == key })
		switch {
		case at < 0:
			out = append(out, c.setting(options, "default", ""))
		case column >= len(all[at]):
			return nil, value.Errorf(value.Failure, "", "%s has no column %d in the row `%s`", name, column, key)
		default:
			out = append(out, all[at][column])
		}
	}
	return out, nil
}
