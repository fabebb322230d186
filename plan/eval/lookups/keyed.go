package lookups

import (
	"crypto/rand"
	"encoding/csv"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/value"
)

// Lookups whose terms have options in them: a password, a value of an INI or CSV file.

// keyed takes apart a term such as 'name key=value key=value'.
func keyed(term string) (name string, options map[string]string) {
	options = map[string]string{}
	var words []string
	for word := range strings.FieldsSeq(term) {
		key, value, ok := strings.Cut(word, "=")
		// A path may have an equals sign: a key has neither dot nor slash.
		if ok && key != "" && !strings.ContainsAny(key, "/.") {
			options[key] = strings.Trim(value, `'"`)
		} else {
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), options
}

// readSetting takes an option from a term, or from the call.
func readSetting(c *call.Input, options map[string]string, name, otherwise string) string {
	// What stands in the term wins: it is nearer.
	if v, ok := options[name]; ok {
		return v
	}
	if v, ok := c.Named[name]; ok && v != nil {
		if list, isList := v.([]any); isList {
			parts := make([]string, len(list))
			for i := range list {
				parts[i] = c.Print(list[i])
			}
			return strings.Join(parts, ",")
		}
		return c.Print(v)
	}
	return otherwise
}

// letters are the names that password knows for sets of characters.
var letters = map[string]string{
	"ascii_lowercase": "abcdefghijklmnopqrstuvwxyz", "ascii_uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "digits": "0123456789",
	"ascii_letters": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"hexdigits":     "0123456789abcdefABCDEF", "octdigits": "01234567", "punctuation": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}

// readCharacters gives the characters that a password may be made of: names of sets, or characters themselves, and a comma where two of
// them follow each other. Quotes are never among them.
func readCharacters(c *call.Input, options map[string]string) []rune {
	// Ansible's own default.
	sets := []string{"ascii_letters", "digits", ".,:-_"}
	text, given := options["chars"]
	if v := c.Named["chars"]; !given && v != nil {
		if list, isList := v.([]any); isList {
			sets = make([]string, len(list))
			for i := range list {
				sets[i] = c.Print(list[i])
			}
		} else {
			text, given = c.Print(v), true
		}
	}
	if given {
		sets = nil
		// A comma separates sets, so two of them are how Ansible lets one be named.
		if strings.Contains(text, ",,") {
			sets = append(sets, ",")
		}
		sets = append(sets, strings.Split(strings.ReplaceAll(text, ",,", ","), ",")...)
	}
	var all strings.Builder
	for _, set := range sets {
		// Any other word is the characters themselves.
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
		// As Python draws it, so that a seed gives the password that Ansible gave.
		t, err := filters.NewGenerator(seed)
		if err != nil {
			return "", err
		}
		for i := range made {
			made[i] = chars[t.Below(uint64(len(chars)))]
		}
		return string(made), nil
	}
	for i := range made {
		// From the system's generator: a password must not be guessed from others.
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(chars))))
		if err != nil {
			return "", err
		}
		made[i] = chars[n.Int64()]
	}
	return string(made), nil
}

func lookupPassword(c *call.Input, terms []any) ([]any, error) {
	if c.World.Password == nil {
		return nil, call.Unavailable("password")
	}
	out := []any{}
	for _, term := range terms {
		file, options := keyed(c.Print(term))
		// Refused rather than ignored: `encrypt` would change what is written.
		for option := range options {
			if option != "length" && option != "chars" && option != "encoding" && option != "seed" {
				return nil, value.Errorf(value.TypeError, "", "the option `%s` of `password` is not supported", option)
			}
		}
		length, err := strconv.Atoi(readSetting(c, options, "length", "20"))
		// Bounded, as the length may come from a variable.
		if err != nil || length < 1 || length > 10_000 {
			return nil, value.Errorf(value.TypeError, "", "the length of a password must be a number from 1 to 10000")
		}
		chars := readCharacters(c, options)
		if len(chars) == 0 {
			return nil, value.Errorf(value.TypeError, "name some, such as `chars=ascii_letters,digits`",
				"needs characters to make a password of")
		}
		seed, always := options["seed"]
		if v := c.Named["seed"]; !always && v != nil {
			seed, always = c.Print(v), true
		}
		// Drawn only if the file is not there: the world decides, and knows whether it may be made while planning.
		password, err := c.World.Password(c.Env, file, always, func() (string, error) { return drawn(chars, length, seed, always) })
		if password, err = call.Ask("password", file, password, err); err != nil {
			return nil, err
		}
		// A password is a secret without being marked.
		c.Touched = true
		c.Secrets.Add("", password)
		out = append(out, password)
	}
	return out, nil
}

func lookupINI(c *call.Input, terms []any) ([]any, error) {
	if c.World.File == nil {
		return nil, call.Unavailable("ini")
	}
	out := []any{}
	for _, term := range terms {
		key, options := keyed(c.Print(term))
		name := readSetting(c, options, "file", "ansible.ini")
		text, err := c.World.File(c.Env, "files", name)
		if text, err = call.Ask("ini", name, text, err); err != nil {
			return nil, err
		}
		section := readSetting(c, options, "section", "global")
		properties := readSetting(c, options, "type", "ini") == "properties"
		// Such a file has no sections: all of it stands before the first.
		if properties {
			section = ""
		}
		value, ok := iniValue(text, section, key)
		if !ok {
			if otherwise, given := c.Named["default"]; given {
				// As what it is: a default need not be text.
				out = append(out, otherwise)
				continue
			}
			value = readSetting(c, options, "default", "")
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
		// DEFAULT holds for all sections, as in Python's configparser.
		case in == section || in == "DEFAULT" && section != "":
			i := strings.IndexAny(bare, "=:")
			// The section's own value wins over that of DEFAULT, wherever each stands.
			if i >= 0 && strings.EqualFold(strings.TrimSpace(bare[:i]), key) && (!found || in == section) {
				value, found = strings.TrimSpace(bare[i+1:]), true
			}
		}
	}
	return value, found
}

func lookupCSV(c *call.Input, terms []any) ([]any, error) {
	if c.World.File == nil {
		return nil, call.Unavailable("csvfile")
	}
	out := []any{}
	for _, term := range terms {
		key, options := keyed(c.Print(term))
		name := readSetting(c, options, "file", "ansible.csv")
		text, err := c.World.File(c.Env, "files", name)
		if text, err = call.Ask("csvfile", name, text, err); err != nil {
			return nil, err
		}
		delimiter := readSetting(c, options, "delimiter", "TAB")
		// Ansible's word for it, and its default although the file is called CSV.
		if delimiter == "TAB" || delimiter == `\t` {
			delimiter = "\t"
		}
		column, err := strconv.Atoi(readSetting(c, options, "col", "1"))
		if err != nil || column < 0 || len([]rune(delimiter)) != 1 {
			return nil, value.Errorf(value.TypeError, "", "`csvfile` needs a number for `col` and one character for `delimiter`")
		}
		rows := csv.NewReader(strings.NewReader(text))
		// Rows may differ in length and have stray quotes, as in Python's reader.
		rows.Comma, rows.FieldsPerRecord, rows.LazyQuotes = []rune(delimiter)[0], -1, true
		all, err := rows.ReadAll()
		if err != nil {
			return nil, value.Errorf(value.Failure, "", "%s is not CSV: %s", name, value.Sentence(err.Error()))
		}
		at := slices.IndexFunc(all, func(row []string) bool { return len(row) > 0 && row[0] == key })
		switch {
		case at < 0:
			out = append(out, readSetting(c, options, "default", ""))
		case column >= len(all[at]):
			return nil, value.Errorf(value.Failure, "", "%s has no column %d in the row `%s`", name, column, key)
		default:
			out = append(out, all[at][column])
		}
	}
	return out, nil
}
