package lint

// Rules are all that there are, by their ids.
func Rules() []Rule {
	return []Rule{
		changedWhen, commandInstead, deprecated, fullNames, gitVersion, ignoredErrors, inlineEnvironment, shellCharacters, templateSpacing, keyOrder,
		latest, literalCompare, loggedPassword, nameLength, handlerInstead, octal, pairs, partialBecome, permissions, runOnceFree, shellInstead,
		templateInWhen, truthy, unnamed, varNaming,
	}
}
