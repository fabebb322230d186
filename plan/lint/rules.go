package lint

// Rules are all that there are, by their ids.
func Rules() []Rule {
	return []Rule{
		changedWhen, commandInstead, deprecated, gitVersion, ignoredErrors, shellCharacters, templateSpacing, keyOrder, latest, literalCompare,
		nameLength, handlerInstead, permissions, runOnceFree, shellInstead, templateInWhen, unnamed,
	}
}
