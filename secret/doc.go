// Package secret knows the texts that nobody may see, and takes them out of whatever is shown or stored.
//
//	vault, files of secrets, env, passwords ──Add──▶ Set ──▶ Redact, Clean   texts and values
//	                                                  ├────▶ Writer          streams, as they come
//	                                                  └────▶ Seal, Open      values that must be had again
//
// A text counts wherever its bytes are: it is found in itself and in the forms that programs commonly give it (base64, escaped
// for a URL, for JSON, for HTML, for a shell), and in two of these, one made of the other. Where secrets come from, and what is computed
// from them, is the evaluator's business.
package secret
