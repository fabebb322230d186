package eval_test

import (
	"os"
	"path/filepath"
	"testing"

	"moon/plan/eval"
	"moon/plan/eval/value"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	home, _ := os.UserHomeDir()
	tests := []struct{ text, want string }{
		// Text.
		{"{{ 'aBc' | upper }}{{ 'aBc' | lower }}{{ 'aBc dE' | capitalize }}{{ 'a b-c' | title }}{{ '' | capitalize }}", "ABCabcAbc deA B-C"},
		{"{{ ' a ' | trim }}{{ 'xax' | trim('x') }}{{ 'aaa' | replace('a', 'b') }}{{ 'aaa' | replace('a', 'b', 2) }}", "aabbbbba"},
		{"{{ 'a b  c' | split }}{{ 'a,b,c' | split(',', 1) }}{{ 'a b c' | wordcount }}", `["a","b","c"]["a","b,c"]3`},
		{"{{ 'a\nb\n\nc' | indent(2) }}|{{ 'a\nb' | indent('> ', true) }}", "a\n  b\n\n  c|> a\n> b"},
		{"{{ '%s is %d' | format(name, 3) }}{{ '%(a)s' | format(a=1) }}", "web is 31"},
		{"[{{ 'a' | center(4) }}] {{ 'some long text here' | truncate(12) }} {{ 'a b' | urlencode }} {{ '<b>' | e }} {{ 1000 | filesizeformat }}", "[ a  ] some... a%20b &lt;b&gt; 1.0 kB"},
		{"{{ 'a/b?c=d&e+f' | urlencode }} {{ {'q': 'a b&c', 'n': 1} | urlencode }} {{ [['a', 'ü']] | urlencode }} {{ n | urlencode }}", "a/b%3Fc%3Dd%26e%2Bf n=1&q=a+b%26c a=%C3%BC 5"},
		{"{{ 'plain' | quote }} {{ 'a b' | quote }} {{ '' | quote }} {{ '$x' | quote }} {{ 'a\nb' | quote }}", "plain 'a b' '' '$x' 'a\nb'"},
		{"{{ 'a' | comment }}", "#\n# a\n#"},
		{"{{ [['b', 1], ['a', 2]] | dict }} {{ [] | dict }} {{ [['a', 1]] | community.general.dict }}", "{\"a\":2,\"b\":1} {} {\"a\":1}"},
		{"{{ 'a\n\nb' | comment('cblock') }}", "/*\n *\n * a\n *\n * b\n *\n */"},
		{"{{ 'a' | comment('plain', prefix='##\n#', postfix='#\n##') }}", "##\n#\n# a\n#\n##"},
		{"{{ 'a' | comment('c', prefix='x', prefix_count=2, postfix='', decoration='; ') }}|", "x\nx\n; a\n|"},
		{"{{ 'a\nb' | comment(postfix_count=0, beginning='B', end='E') }}", "B\n#\n# a\n# b\nE"},
		{"{{ 'foo12' | regex_replace('([a-z]+)(\\d+)', '\\2-\\1') }} {{ 'a$b' | regex_replace('b', '$1') }} {{ 'Ab' | regex_replace('a', 'x', ignorecase=true) }}", "12-foo a$$1 xb"},
		{"{{ 'ab' | regex_replace('(?P<x>a)', '<\\g<x>>') }} {{ 'aaa' | regex_replace('a', 'b', count=2) }} {{ 'x.y' | regex_escape }} {{ 'a' | regex_replace('a') }}|", `<a>b bba x\.y |`},
		{"{{ 'v1.25' | regex_search('\\d+') }} {{ 'v1.25' | regex_search('(\\d+)\\.(\\d+)', '\\1', '\\2') }} {{ 'x' | regex_search('y') is none }} {{ 'A\nb' | regex_search('^B', ignorecase=true, multiline=true) }}", `1 ["1","25"] true b`},
		{"{{ 'a1b2' | regex_findall('\\d') }}{{ 'a1b2' | regex_findall('[a-z](\\d)') }}{{ 'a1b2' | regex_findall('([a-z])(\\d)') }}", `["1","2"]["1","2"][["a","1"],["b","2"]]`},

		// Numbers.
		{"{{ '42' | int }} {{ ' 7 ' | int }} {{ 'x' | int }} {{ 'x' | int(9) }} {{ 'ff' | int(base=16) }} {{ '0x1f' | int(0, 16) }} {{ 3.9 | int }} {{ '3.9' | int }} {{ mode | int }} {{ true | int }}", "42 7 0 9 255 31 3 3 420 1"},
		{"{{ '1.5' | float }} {{ 'x' | float }} {{ 3 | float }} {{ version | float }} {{ -3 | abs }} {{ 2.5 | round }} {{ 2.567 | round(2) }} {{ 2.1 | round(0, 'ceil') }} {{ 7 | round }}", "1.5 0 3 1.1 3 2 2.57 3 7"},
		{"{{ 'yes' | bool }}{{ 'no' | bool }}{{ 1 | bool }}{{ 0 | bool }}{{ 'True' | bool }}{{ '' | bool }}{{ nothing | bool }}", "truefalsetruefalsetruefalse"},
		{"{{ version | string }}{{ lst | string }}{{ flag | string | upper }}{{ mode | type_debug }}{{ lst | type_debug }}{{ 'x' | type_debug }}{{ nothing | type_debug }}{{ half | type_debug }}{{ cfg | type_debug }}{{ flag | type_debug }}", `1.10["a","b","c"]TRUEintliststrNoneTypefloatdictbool`},

		// Lists.
		{"{{ lst | length }}{{ cfg | count }}{{ 'äö' | length }}{{ lst | first }}{{ lst | last }}{{ 'ab' | list }}{{ cfg.deep | list }}", `352ac["a","b"]["x"]`},
		{"{{ lst | join }}{{ lst | join(', ') }}{{ users | join('-', attribute='name') }}{{ [1, true, none] | join('/') }}", "abca, b, cann-bob-cid1/true/"},
		{"{{ users | map(attribute='name') | list }}{{ users | map(attribute='groups.0', default='-') | list }}{{ lst | map('upper') | join }}{{ ['a.b'] | map('split', '.') | list }}{{ [1] | map('default', 2) | list }}", `["ann","bob","cid"]["a","b","-"]ABC[["a","b"]][1]`},
		{"{{ nums | select('odd') | list }}{{ nums | reject('odd') | list }}{{ [0, 1, ''] | select | list }}{{ lst | select('in', ['a', 'c']) | list }}{{ ['ab', 'b'] | select('match', 'a') | list }}", `[3,1][2][1]["a","c"]["ab"]`},
		{"{{ users | selectattr('admin') | map(attribute='name') | list }}{{ users | rejectattr('admin') | map(attribute='name') | list }}{{ users | selectattr('age', '>', 22) | list | length }}{{ users | selectattr('nick', 'defined') | map(attribute='nick') | join }}{{ users | rejectattr('nick', 'defined') | list | count }}", `["ann","cid"]["bob"]2c2`},
		{"{{ nums | sort }}{{ nums | sort(reverse=true) }}{{ ['b', 'A', 'c'] | sort }}{{ ['b', 'A'] | sort(case_sensitive=true) }}{{ users | sort(attribute='age') | map(attribute='name') | join }}{{ users | sort(attribute='admin,age') | map(attribute='age') | list }}", `[1,2,3][3,2,1]["A","b","c"]["A","b"]bobcidann[20,25,30]`},
		{"{{ lst | reverse | list }}{{ 'abc' | reverse }}{{ [1, 2, 1, '1', 1.0] | unique }}{{ ['a', 'A'] | unique }}{{ users | unique(attribute='admin') | length }}", `["c","b","a"]cba[1,2,"1"]["a","A"]2`},
		{"{{ nums | min }}{{ nums | max }}{{ ['b', 'a'] | min }}{{ (users | max(attribute='age')).name }}{{ nums | sum }}{{ [0.5, 1] | sum }}{{ users | sum(attribute='age') }}{{ [[1], [2]] | sum(start=[]) }}", `13aann61.575[1,2]`},
		{"{% for g in users | groupby('admin') %}{{ g.grouper }}={{ g.list | map(attribute='name') | join('+') }};{% endfor %}{% for k, v in users | groupby('age') %}{{ k }}{{ v | length }} {% endfor %}", "false=bob;true=ann+cid;201 251 301 "},
		{"{{ nested | flatten }}{{ nested | flatten(1) }}{{ [none, [none, 1]] | flatten }}{{ [1, [2]] | flatten(levels=0) }}", `[1,2,3][1,2,[3]][1][1,[2]]`},
		{"{{ [1, 2, 2] | union([2, 3]) }}{{ [1, 2] | intersect([2, 3]) }}{{ [1, 2] | difference([2, 3]) }}{{ [1, 2] | symmetric_difference([2, 3]) }}", `[1,2,3][2][1][1,3]`},
		{"{{ [1, 2] | zip(['a', 'b'], [3]) | list }}{{ [1, 2] | zip_longest(['a'], fillvalue='-') | list }}{{ [1, 2] | product(['a']) | list }}", `[[1,"a",3]][[1,"a"],[2,"-"]][[1,"a"],[2,"a"]]`},
		{"{{ nums | batch(2) | list }}{{ nums | batch(2, 0) | list }}{{ nums | slice(2) | list }}{{ [1] | slice(2, 'x') | list }}", `[[3,1],[2]][[3,1],[2,0]][[3,1],[2]][[1],["x"]]`},
		{"{{ ['host'] | map('extract', cfg) | list }}{{ ['deep'] | map('extract', cfg, 'x') | list }}{{ users | subelements('groups') | map(attribute=1) | list }}", `["h1"][1]["a","b","b"]`},

		{"{{ ['host', 'nope'] | map('extract', cfg) | select('defined') | list }}{{ ['nope'] | map('extract', cfg) | map('default', '-') | list }}{{ users | map(attribute='nick') | list | reject('defined') | length }}{{ [users] | map('map', attribute='name') | first | join }}", `["h1"]["-"]2annbobcid`},

		// Data.
		{"{{ cfg | to_json }}{{ 'a' | to_json }}{{ version | to_json }}", `{"deep": {"x": 1}, "host": "h1", "items": "own", "ports": [80, 443], "v": 1.10}"a"1.10`},
		{"{{ cfg.ports | to_nice_json }}{{ {'a': 1} | to_nice_json(indent=2) }}", "[\n    80,\n    443\n]{\n  \"a\": 1\n}"},
		{"{{ '{\"a\": [1, 1.10, 2.0, true, null]}' | from_json }}{{ cfg.deep | from_json }}", `{"a":[1,1.10,2.0,true,null]}{"x":1}`},
		{"{{ {'b': '0644', 'a': [1, mode, none, 'yes', {}], 'c': []} | to_yaml }}", "a:\n  - 1\n  - 0644\n  - null\n  - \"yes\"\n  - {}\nb: \"0644\"\nc: []\n"},
		{"{{ {'a': {'b': 1}} | to_nice_yaml }}{{ 'x' | to_yaml }}", "a:\n    b: 1\nx\n"},
		{"{{ 'a: 1.10\nb: yes\nc: \"no\"\nd: [~, 0o17, x]\ne: &e {k: v}\nf: *e\ng: {<<: *e, z: 1}\n1: 2' | from_yaml }}{{ '' | from_yaml }}", `{"1":2,"a":1.10,"b":true,"c":"no","d":[null,15,"x"],"e":{"k":"v"},"f":{"k":"v"},"g":{"k":"v","z":1}}`},
		{"{{ 'héllo' | b64encode }}{{ 'aMOpbGxv' | b64decode }}{{ 'YQ' | b64decode }}", "aMOpbGxvhélloa"},
		{"{{ 'a' | hash('md5') }} {{ 'a' | hash }} {{ 'a' | hash('sha256') | length }} {{ 'a' | hash('sha512') | length }} {{ 'a' | checksum }}", "0cc175b9c0f1b6a831c399e269772661 86f7e437faa5a7fce15d1ddcb9eaeaea377667b8 64 128 86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"},
		// What crypt(3) makes of the same.
		{"{{ 'secret' | password_hash('sha512', 'salt') }}", "$6$rounds=656000$salt$41H1sjKBtQTFyyGjjTBTTBJE77ML4peiWDjmyYWu7IDBGgiWKFktmGmI3Q1M51NmTpapd0aq6.FbalaaqLq5p1"},
		{"{{ 'geheim ü' | password_hash('sha256', '0123456789abcdef') }}", "$5$rounds=535000$0123456789abcdef$hak.AZQXYl5yHHYmxb8cAuQHn.e7TFhgLnGSg8NBRyD"},
		{"{{ '' | password_hash('sha256', salt='x', rounds=5000) }}", "$5$rounds=5000$x$yHbtfs4Y8t6X1xcJemNX.4JQRfUTafA2qQenWGLBee2"},
		{"{{ 'secret' | password_hash('yescrypt', 'F5Jx5fExrKuPp53x') }}", "$y$j9T$F5Jx5fExrKuPp53x$MFvMcxCtbUekYIrWeW0mXnAG6hVlPK97328lyKhD7IC"},
		{"{{ 'secret' | password_hash('yescrypt', 'abcdefgh') }}", "$y$j9T$abcdefgh$IUWJt2doU4Kf6E/JP1UkAT3S5O3Q7SSA8SJirXIlEu9"},
		{"{{ 'secret' | password_hash('blowfish', 'abcdefghijklmnopqrstuu') }}", "$2b$12$abcdefghijklmnopqrstuuT1Iwu6o8Wx7BoOyIMHfgVJq6JO/IJhW"},
		{"{{ 'geheim ü' | password_hash('bcrypt', 'abcdefghijklmnopqrstuv', rounds=5, ident='2y') }}", "$2y$05$abcdefghijklmnopqrstuuzQBL0uEjet/kHTTtQOVIJxuPePGrHWi"},
		{"{{ ('x' * 100) | password_hash('bcrypt', 'abcdefghijklmnopqrstuu', rounds=4, ident='2a') }}", "$2a$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i"},
		{"{{ '' | password_hash('bcrypt', 'abcdefghijklmnopqrstuu', rounds=4) }}", "$2b$04$abcdefghijklmnopqrstuubyCG3zY1GIXMyxfivm.ClDiInHzxjiq"},
		{"{{ 'secret' | password_hash('md5', 'saltsalt') }}", "$1$saltsalt$9xy1btjgzLYfb7hivXtC//"},
		{"{{ 'geheim ü, etwas länger als sechzehn' | password_hash('md5_crypt', 'abcdefgh') }}", "$1$abcdefgh$INPFjM7WBIQkBgQhK/EH0/"},
		{"{{ {'a': 1, 'b': {'c': 1}} | combine({'b': {'d': 2}}) }}{{ {'b': {'c': 1}} | combine({'b': {'d': 2}}, recursive=true) }}{{ {'a': 1} | combine({'a': 2}, {'a': 3}) }}{{ {'l': [1]} | combine({'l': [2]}, list_merge='append') }}", `{"a":1,"b":{"d":2}}{"b":{"c":1,"d":2}}{"a":3}{"l":[1,2]}`},
		{"{{ {'b': 1, 'a': 2} | dict2items }}{{ {'a': 1} | dict2items(key_name='k', value_name='v') }}{{ [{'key': 'a', 'value': 1}] | items2dict }}{{ cfg.deep | items | list }}", `[{"key":"a","value":2},{"key":"b","value":1}][{"k":"a","v":1}]{"a":1}[["x",1]]`},
		{"{{ {'b': 1, 'a': 2} | dictsort }}{{ {'b': 1, 'a': 2} | dictsort(by='value') }}{{ {'b': 1, 'a': 2} | dictsort(reverse=true) | first }}", `[["a",2],["b",1]][["b",1],["a",2]]["b",1]`},
		{"{{ flag | ternary('a', 'b') }}{{ off | ternary('a', 'b') }}{{ nothing | ternary('a', 'b', 'c') }}{{ flag | ternary('a', nope) }}{{ name | mandatory }}", "abcaweb"},

		// Paths.
		{"{{ '/a/b.txt' | basename }} {{ '/a/b.txt' | dirname }} {{ '/a' | dirname }} {{ 'a' | dirname }}| {{ '/a/' | basename }}|", "b.txt /a / | |"},
		{"{{ '~/x' | expanduser }} {{ '~nobody-such/x' | expanduser }} {{ 'x' | expanduser }} {{ '/a/b.tar.gz' | splitext }} {{ ['a', 'b/', 'c'] | path_join }}", filepath.Join(home, "x") + ` ~nobody-such/x x ["/a/b.tar",".gz"] a/b/c`},
		{"{{ '/' | realpath }}", "/"},

		// Names with a collection in front.
		{"{{ 'a' | ansible.builtin.upper }}{{ 'a' is ansible.builtin.match('a') }}", "Atrue"},
	}
	for _, tc := range tests {
		got, err := render(t, tc.text, world())
		if err != nil {
			t.Errorf("%s\nerror: %v", tc.text, err)
		} else if value.Text(got.Value) != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.text, value.Text(got.Value), tc.want)
		}
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"name is defined": true, "x is defined": false, "x is undefined": true, "cfg.nope is not defined": true, "cfg.deep.x is defined": true, "x.y.z is undefined": true,
		"nothing is none": true, "name is not none": true, "nothing is defined": true,
		"name is string": true, "n is string": false, "n is number": true, "version is number": true, "flag is number": false, "half is float": true, "n is integer": true, "flag is integer": false,
		"cfg is mapping": true, "lst is mapping": false, "lst is sequence": true, "name is sequence": true, "n is iterable": false, "lst is iterable": true, "flag is boolean": true,
		"flag is true": true, "off is false": true, "n is true": false, "name is lower": true, "'A' is upper": true, "'1' is upper": false,
		"n is truthy": true, "empty is falsy": true, "'no' is truthy(convert_bool=true)": false, "'x' is truthy": true,
		"n is odd": true, "n is even": false, "n is divisibleby 5": true,
		"'a' is in lst": true, "'a' is in(lst)": true, "lst is contains('a')": true, "text is contains 'ell'": true,
		"n is eq 5": true, "n is ne(5)": false, "n is gt 4": true, "n is le 4": false, "n is sameas 5": true,
		"text is match('hello')": true, "text is match('world')": false, "text is search('wor')": true, "text is regex('^h.*d$')": true,
		"text is match('HELLO', ignorecase=true)": true, "text is regex('hello', match_type='fullmatch')": false,
		"'1.10' is version('1.9', '>')": true, "'1.0' is version('1.0.0')": true, "'2.0rc1' is version('2.0', '<')": true, "version is version('1.2', '>=')": true, "'v1.2' is version('1.2', 'eq')": true, "'1.2.3' is version('1.2', 'lt')": false,
		"'1.0-alpha' is version('1.0-beta', '<')": true, "'10' is version('9', 'gt')": true,
		"done is succeeded": true, "done is success": true, "done is failed": false, "done is changed": true, "done is skipped": false, "sk is skipped": true, "sk is succeeded": true, "sk is not changed": true,
		"[1, 2] is subset([1, 2, 3])": true, "[1, 2, 3] is superset([4])": false, "[true, 1] is all": true, "[false, 1] is any": true, "[] is any": false,
		"'upper' is filter": true, "'nope' is filter": false, "'odd' is test": true, "name is callable": false,
	}
	e := eval.New()
	for text, want := range tests {
		c, err := e.Condition(text, eval.Jinja)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := c.Eval(world()); err != nil || !v.Known || v.Holds != want {
			t.Errorf("%s: %+v, %v; want %v", text, v, err, want)
		}
	}
}
