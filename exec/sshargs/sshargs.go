package sshargs

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
)

// harmlessSSH are options of ssh, in lower case, with which it executes and loads nothing, and gives nothing away to the host. Any
// other may.
var harmlessSSH = []string{
	"addressfamily", "batchmode", "bindaddress", "bindinterface", "canonicaldomains", "canonicalizehostname", "certificatefile",
	"checkhostip",
	"ciphers", "clearallforwardings", "compression", "connectionattempts", "connecttimeout", "controlmaster", "controlpath",
	"controlpersist",
	"fingerprinthash", "globalknownhostsfile", "gssapiauthentication", "hashknownhosts", "hostbasedauthentication", "hostkeyalgorithms",
	"hostkeyalias", "hostname", "identitiesonly", "identityagent", "identityfile", "ipqos", "kbdinteractiveauthentication", "kexalgorithms",
	"loglevel", "macs", "numberofpasswordprompts", "passwordauthentication", "port", "preferredauthentications", "proxyjump",
	"pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes", "pubkeyauthentication", "rekeylimit", "requesttty", "serveralivecountmax",
	"serveraliveinterval", "streamlocalbindunlink", "stricthostkeychecking", "tcpkeepalive", "updatehostkeys", "user", "userknownhostsfile",
	"verifyhostkeydns", "visualhostkey",
}

// Steering is the first argument of ssh that may have it execute another program, or read a file that may, or else the first that
// lends the host something of the user; "" if there is none.
func Steering(args string) (option string) {
	words, err := spec.Words(args)
	if err != nil {
		// What cannot be split into words cannot be judged.
		return strconv.Quote(args)
	}
	found := func(name string) bool {
		if option == "" || !Lends(name) {
			option = name
		}
		return !Lends(name)
	}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-o"):
			option := strings.TrimPrefix(word, "-o")
			if option == "" && i+1 < len(words) {
				i++
				option = words[i]
			}
			// ssh takes "name=value" and "name value".
			name := option
			if at := strings.IndexAny(option, "= \t"); at >= 0 {
				name = option[:at]
			}
			if !slices.Contains(harmlessSSH, strings.ToLower(name)) && found(name) {
				return name
			}
		case slices.Contains([]string{"-i", "-p", "-l", "-J", "-c", "-m", "-b", "-B"}, word):
			i++ // the next word is its value
		case word == "-F" && i+1 < len(words) && readsNothing(words[i+1]):
			i++
		case strings.HasPrefix(word, "-F") && readsNothing(word[2:]):
		case !strings.HasPrefix(word, "-"), strings.Trim(word, "-46aCnqTtvx") != "":
			// Not an option, or one that is not known to be harmless.
			if found(word) {
				return word
			}
		}
	}
	return option
}

// readsNothing reports whether ssh, with this in the place of its file of options, reads none.
func readsNothing(file string) bool { return file == "none" || file == os.DevNull }

// Files are the files with options that arguments of ssh name.
func Files(args string) (files []string) {
	words, _ := spec.Words(args) // what cannot be split is steering, and names nothing that ssh could read
	for i, word := range words {
		name, ok := strings.CutPrefix(word, "-F")
		if ok && name == "" && i+1 < len(words) {
			name = words[i+1]
		}
		if ok && name != "" && !readsNothing(name) {
			files = append(files, name)
		}
	}
	return files
}

// Lends reports whether an argument of ssh executes nothing, and lends the host the user's agent or screen.
func Lends(option string) bool {
	if strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") {
		return strings.Trim(option, "-46aCnqTtvxAXY") == ""
	}
	return slices.Contains([]string{"forwardagent", "forwardx11", "forwardx11trusted", "forwardx11timeout"}, strings.ToLower(option))
}
